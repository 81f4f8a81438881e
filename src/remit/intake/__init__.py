"""From cue to task."""
