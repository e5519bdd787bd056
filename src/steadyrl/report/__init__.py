"""Figures and pages made of what was measured."""
