"""Decision rules in other languages: SQL, ONNX, Python and plain English."""

from evenhand.mitigation.deploy.description import Description, Grouping
from evenhand.mitigation.deploy.graph import moves_model, onnx_model
from evenhand.mitigation.deploy.moves import Moves
from evenhand.mitigation.deploy.query import moves_query, sql_query
from evenhand.mitigation.deploy.source import moves_source, python_source
from evenhand.mitigation.deploy.words import moves_words, sentences

__all__ = [
    "Description",
    "Grouping",
    "Moves",
    "moves_model",
    "moves_query",
    "moves_source",
    "moves_words",
    "onnx_model",
    "python_source",
    "sentences",
    "sql_query",
]
