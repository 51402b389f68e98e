"""Which calls are made: those of a method of which every call died alike are not."""
