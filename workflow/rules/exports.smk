# Exports for other people's tools, made when asked for. They hold anonymous names only, but the released layout quotes outputs.


rule export_pan:
    input:
        generations=or_stop(exports.pan_generations),
        prompts=paths.prompts,
        embeddings=paths.generation_embeddings,
        golds=paths.gold_embeddings,
        sources=lambda w: project.sources(w, w.encoder),
    output:
        truth=paths.pan_export.where(file="truth.jsonl"),
        answers=paths.pan_export.where(file="answers.jsonl"),
        measures=paths.pan_export.where(file="measures.json"),
    params:
        cfg=exports.pan_settings,
    script:
        "../scripts/export_pan.py"


rule export_release:
    input:
        generations=or_stop(exports.released_generations),
        prompts=paths.prompts,
        embeddings=paths.generation_embeddings.at(encoder=project.style_encoder),
        golds=paths.gold_embeddings.at(encoder=project.style_encoder),
        sources=evaluation.style_sources,
        utility=paths.utility,
        scores=exports.released_scores,
    output:
        generations=paths.release_export.where(file="generations.jsonl"),
        examples=paths.release_export.where(file="per_example_metrics.jsonl"),
        summary=paths.release_export.where(file="summary_metrics.csv"),
        budget=paths.release_export.where(file="training_budget.csv"),
        quality=paths.release_export.where(file="quality_filter_report.json"),
        config=paths.release_export.where(file="method_config_resolved.yaml"),
        seeds=paths.release_export.where(file="seed_manifest.json"),
        definitions=paths.release_export.where(file="README.md"),
    params:
        cfg=exports.release_settings,
    script:
        "../scripts/export_release.py"
