"""What everything stands on: errors, files, options, state, random streams, shapes. Nothing here knows of learning."""
