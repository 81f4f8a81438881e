"""From reply and contract to verdict."""
