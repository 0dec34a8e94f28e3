"""ENEM: which fifth of the grades a candidate of Brazil's secondary school exam is in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from evenhand.datasets.task import File, Origin, Task

if TYPE_CHECKING:
    import pandas as pd

    from evenhand.datasets.task import Derivation

RACES = ("White", "Black", "Brown", "Asian", "Indigenous")
IN_PORTUGUESE = ("Branca", "Preta", "Parda", "Amarela", "Indígena")
_QUESTIONS = """
father_education mother_education father_occupation mother_occupation household_size
household_income domestic_worker bathrooms bedrooms cars motorcycles fridges freezers
washing_machines dryers microwaves dishwashers vacuum_cleaner televisions dvd_player
cable_television mobile_phones landline computers
"""
_IN_BAHIA = """
escolaridade_pai escolaridade_mae ocupacao_pai ocupacao_mae pessoas_residencia
renda_mensal_familiar empregada_domestico quantidade_banheiros quantidade_quartos
quantidade_carros quantidade_moto geladeira freezer maquina_lavar maquina_secar microondas
lava_louca aspirador_po TV aparelho_DVD TV_assinatura telefone_celular telefone_fixo computador
"""
QUESTIONS, IN_BAHIA = _QUESTIONS.split(), _IN_BAHIA.split()
PRESENCE = tuple(f"TP_PRESENCA_{area}" for area in ("CN", "CH", "LC", "MT"))
SCORES = ("CIENCIAS_NATUREZA", "HUMANAS", "LINGUAGENS", "MATEMATICA")
ROWS = 50_000


def _keep(raw: pd.DataFrame) -> pd.DataFrame:
    """Keep school leavers who sat all four papers and stated their race."""
    return raw[
        raw[list(PRESENCE)].eq(1).all(axis=1)
        & raw["IN_TREINEIRO"].eq(0)
        & raw["TP_ST_CONCLUSAO"].eq(1)
        & raw["TP_COR_RACA"].between(1, 5)
    ]


def _keep_in_bahia(raw: pd.DataFrame) -> pd.DataFrame:
    """Apply the same filter to labels; a score of 0 means absence."""
    return raw[
        raw[list(SCORES)].gt(0).all(axis=1)
        & raw["TREINEIRO"].eq("Não")
        & raw["TP_ST_CONCLUSAO"].eq("Já concluí o Ensino Médio")
        & raw["TP_COR_RACA"].isin(IN_PORTUGUESE)
    ]


def _fifth(score: str) -> Derivation:
    def derive(raw: pd.DataFrame) -> Mapping[str, pd.Series[Any]]:
        import pandas as pd

        return {"grade": pd.qcut(raw[score], 5, labels=False)}

    return derive


PERSON = {"TP_SEXO": "sex", "TP_COR_RACA": "race", "TP_FAIXA_ETARIA": "age_band"}
CODED: dict[str, Any] = {
    "columns": PERSON
    | {"SG_UF_PROVA": "state"}
    | {f"Q{number:03}": name for number, name in enumerate(QUESTIONS, start=1)},
    "extra": (*PRESENCE, "IN_TREINEIRO", "TP_ST_CONCLUSAO", "NU_NOTA_CH"),
    "keep": _keep,
    "derive": _fifth("NU_NOTA_CH"),
    "labels": {
        "sex": {"F": "Female", "M": "Male"},
        "race": dict(enumerate(RACES, start=1)),
    },
    "codes": ("age_band",),
    "sample": ROWS,
}

ENEM = Task(
    name="enem",
    description=(
        "Which fifth of the grades in human sciences a candidate of 2020 is in, with five race "
        "groups; 50,000 candidates drawn with a fixed seed, fifths cut among them. Household size "
        "is a number, every other answer a category; unanswered questions stay missing."
    ),
    source="INEP, microdata of the Exame Nacional do Ensino Médio 2020, "
    "https://www.gov.br/inep/pt-br/acesso-a-informacao/dados-abertos/microdados/enem",
    license="open data of INEP (Brazil)",
    citation="INEP (2020). Microdados do Enem 2020. Instituto Nacional de Estudos e Pesquisas "
    "Educacionais Anísio Teixeira.",
    kind="classification",
    targets=("grade",),
    classes=("lowest fifth", "second fifth", "middle fifth", "fourth fifth", "highest fifth"),
    sensitive=("race",),
    n_groups=5,
    groups=RACES,
    origins=(
        Origin(
            name="official",
            files=(
                File(
                    name="microdados_enem_2020.zip",
                    url="https://download.inep.gov.br/microdados/microdados_enem_2020.zip",
                ),
            ),
            members=("*MICRODADOS_ENEM_2020.csv",),
            csv={"sep": ";", "encoding": "latin-1"},
            rows=ROWS,
            **CODED,
        ),
        Origin(
            name="bahia_2021",
            files=(File(name="enem_2021_bahia.parquet"),),
            columns=PERSON | dict(zip(IN_BAHIA, QUESTIONS, strict=True)),
            extra=(*SCORES, "TREINEIRO", "TP_ST_CONCLUSAO"),
            keep=_keep_in_bahia,
            derive=_fifth("HUMANAS"),
            labels={
                "sex": {"Feminino": "Female", "Masculino": "Male"},
                "race": dict(zip(IN_PORTUGUESE, RACES, strict=True)),
            },
            sample=ROWS,
            rows=ROWS,
            stand_in="ENEM 2021, state of Bahia only",
        ),
        Origin(
            name="years_2017_2023",
            files=(File(name="enem_2017_2023_5k_per_year.parquet"),),
            stand_in="ENEM 2017 to 2023, about 5,000 candidates a year, drawn in an unknown way",
            rows=14_844,
            **CODED,
        ),
        Origin(
            name="sample_2020",
            files=(File(name="enem_2020_5k_official_layout.parquet"),),
            stand_in="5,000 candidates of ENEM 2020, drawn in an unknown way",
            rows=1_674,
            **CODED,
        ),
    ),
)
