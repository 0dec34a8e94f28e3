"""Submitted predictions, checked and scored here, and a page of leaders."""
