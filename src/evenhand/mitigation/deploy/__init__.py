"""Decision rules in other languages: SQL, ONNX, Python and plain English."""

from evenhand.mitigation.deploy.description import Description, Grouping
from evenhand.mitigation.deploy.graph import onnx_model
from evenhand.mitigation.deploy.query import sql_query
from evenhand.mitigation.deploy.source import python_source
from evenhand.mitigation.deploy.words import sentences

__all__ = ["Description", "Grouping", "onnx_model", "python_source", "sentences", "sql_query"]
