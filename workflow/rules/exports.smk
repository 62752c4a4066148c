# Exports for other people's tools, made when asked for. They hold anonymous names only, but the released layout quotes outputs.


rule export_pan:
    input:
        generations=or_stop(exports.pan_generations),
        prompts=paths.prompts,
        embeddings=paths.generation_embeddings,
        golds=paths.gold_embeddings,
        sources=lambda w: project.sources(w, w.encoder),
    output:
        truth=paths.pan_export.partial(file="truth.jsonl"),
        answers=paths.pan_export.partial(file="answers.jsonl"),
        measures=paths.pan_export.partial(file="measures.json"),
    script:
        "../scripts/export_pan.py"


rule export_release:
    input:
        generations=or_stop(exports.released_generations),
        prompts=paths.prompts,
        embeddings=lambda w: paths.generation_embeddings.of(w, encoder=project.style_encoder(w)),
        golds=lambda w: paths.gold_embeddings.of(w, encoder=project.style_encoder(w)),
        sources=evaluation.style_sources,
        utility=paths.utility,
        scores=exports.released_scores,
    output:
        generations=paths.release_export.partial(file="generations.jsonl"),
        examples=paths.release_export.partial(file="per_example_metrics.jsonl"),
        summary=paths.release_export.partial(file="summary_metrics.csv"),
        budget=paths.release_export.partial(file="training_budget.csv"),
        quality=paths.release_export.partial(file="quality_filter_report.json"),
        config=paths.release_export.partial(file="method_config_resolved.yaml"),
        seeds=paths.release_export.partial(file="seed_manifest.json"),
        definitions=paths.release_export.partial(file="README.md"),
    script:
        "../scripts/export_release.py"
