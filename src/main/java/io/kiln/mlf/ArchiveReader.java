// SPDX-License-Identifier: Apache-2.0
package io.kiln.mlf;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kiln.artifact.Artifact;
import io.kiln.artifact.Artifact.Loader;
import io.kiln.artifact.ArtifactSet;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata;
import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.base.Problems;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** Turns the files of an archive into model libraries. */
final class ArchiveReader {
    private static final String CODEGEN_ID = "mlf";

    private final String archive;
    private final SortedMap<String, Bytes> files;
    private final Problems problems = new Problems();

    ArchiveReader(String archive, SortedMap<String, Bytes> files) {
        this.archive = archive;
        this.files = files;
    }

    List<ModelLibrary> read() {
        JsonNode json = json();
        SortedMap<String, JsonNode> models = models(json);
        List<ModelLibrary> libraries = new ArrayList<>();
        List<String> names = List.copyOf(models.keySet());
        models.forEach((name, model) -> {
            String header = Optional.ofNullable(files.get("codegen/host/include/tvmgen_" + name + ".h"))
                    .map(Bytes::text)
                    .orElse("");
            ModelMetadata metadata =
                    new MetadataReader(archive + ": " + ArchiveTree.METADATA, problems, name, model, header).read();
            libraries.add(new ModelLibrary(metadata, artifacts(name, names, metadata.target())));
        });
        problems.throwIfAny();
        return List.copyOf(libraries);
    }

    private JsonNode json() {
        Bytes text = files.get(ArchiveTree.METADATA);
        if (text == null) {
            throw problem("there is no " + ArchiveTree.METADATA, archive, "a Model Library Format archive");
        }
        try {
            return new ObjectMapper().readTree(text.text());
        } catch (JsonProcessingException e) {
            throw problem(
                    "this is no JSON: " + e.getOriginalMessage(),
                    archive + ": " + ArchiveTree.METADATA,
                    "a JSON object");
        }
    }

    /** The models by name; one in versions 5 and 6, which only differ in how they write the target. */
    private SortedMap<String, JsonNode> models(JsonNode json) {
        String where = archive + ": " + ArchiveTree.METADATA;
        int version = json.path("version").asInt(0);
        SortedMap<String, JsonNode> models = new TreeMap<>();
        if (version == ModelLibraryFormat.SEVERAL_MODELS) {
            json.path("modules").properties().forEach(module -> models.put(module.getKey(), module.getValue()));
        } else if (version >= ModelLibraryFormat.ONE_MODEL && version < ModelLibraryFormat.SEVERAL_MODELS) {
            models.put(json.path("model_name").asText(""), json);
        } else {
            throw problem("`version` is " + json.path("version"), where, "5, 6 or 7");
        }
        if (models.isEmpty()) {
            throw problem("`modules` is empty", where, "at least one model");
        }
        for (Map.Entry<String, JsonNode> model : models.entrySet()) {
            String name = model.getKey();
            if (!name.matches("[A-Za-z0-9_]{1,200}")) {
                throw problem("`" + name + "` cannot name a model", where, "letters, digits and underscores");
            }
            if (!model.getValue().path("style").asText("").equals("full-model")) {
                throw problem(
                        "model `" + name + "` has style " + model.getValue().path("style"), where, "\"full-model\"");
            }
        }
        return models;
    }

    /** A model's own files, and the runtime, which all share. */
    private ArtifactSet artifacts(String model, List<String> models, String target) {
        List<Artifact> artifacts = new ArrayList<>();
        files.forEach((path, content) -> {
            for (Loader loader : Loader.values()) {
                String folder = ArchiveTree.folder(loader);
                String name = path.startsWith(folder) ? path.substring(folder.length()) : "";
                boolean isShared = loader == Loader.RUNTIME || loader == Loader.TEMPLATE;
                if (!name.isEmpty() && (isShared || owner(name, models).equals(model))) {
                    artifacts.add(new Artifact(CODEGEN_ID, loader, name, content, target));
                }
            }
        });
        return new ArtifactSet(artifacts);
    }

    /** The model with the longest name that the file's begins with; the first one for files that carry no model's name. */
    private static String owner(String file, List<String> models) {
        String base = file.startsWith("tvmgen_") ? file.substring("tvmgen_".length()) : file;
        return models.stream()
                .filter(name -> base.startsWith(name + "_") || base.startsWith(name + "."))
                .max(Comparator.comparingInt(String::length))
                .orElse(models.get(0));
    }

    private static KilnException problem(String what, String where, String expected) {
        return new KilnException(new Problem(what, where, expected, ""));
    }
}
