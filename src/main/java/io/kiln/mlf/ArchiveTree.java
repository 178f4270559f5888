// SPDX-License-Identifier: Apache-2.0
package io.kiln.mlf;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.Artifact.Loader;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ParameterFile;
import io.kiln.base.Bytes;
import io.kiln.base.Problem;
import io.kiln.base.Problems;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/** The files of an archive by path, without the leading {@code ./}. */
final class ArchiveTree {
    static final String METADATA = "metadata.json";
    static final String PARAMETERS = "parameters/";
    static final String RELAY = "src/";
    static final String RELAY_OF_ONE_MODEL = "src/relay.txt";

    private final SortedMap<String, Bytes> files = new TreeMap<>();
    private final Problems problems = new Problems();

    private ArchiveTree() {}

    static SortedMap<String, Bytes> of(List<ModelLibrary> models, ModelLibraryFormat.Options options) {
        ArchiveTree tree = new ArchiveTree();
        tree.files.put(METADATA, Bytes.ofText(MetadataJson.print(models, options)));
        for (ModelLibrary model : models) {
            tree.addModel(model, options.version());
        }
        tree.problems.throwIfAny();
        return tree.files;
    }

    /** The folder of a kind of artifact. */
    static String folder(Loader loader) {
        return switch (loader) {
            case SOURCE -> "codegen/host/src/";
            case HEADER -> "codegen/host/include/";
            case OBJECT -> "codegen/host/lib/";
            case RUNTIME -> "runtime/";
            case RELAY -> RELAY;
            case PARAMETERS -> PARAMETERS;
            case TEMPLATE -> "templates/";
        };
    }

    private void addModel(ModelLibrary model, int version) {
        String name = model.metadata().name();
        for (Artifact artifact : model.artifacts().artifacts()) {
            switch (artifact.loader()) {
                case RELAY ->
                    add(
                            version == ModelLibraryFormat.ONE_MODEL ? RELAY_OF_ONE_MODEL : RELAY + name + ".relay",
                            artifact.content());
                case PARAMETERS -> add(PARAMETERS + name + ".params", artifact.content());
                default -> add(folder(artifact.loader()) + artifact.fileName(), artifact.content());
            }
        }
        if (model.artifacts().of(Loader.PARAMETERS).isEmpty()) {
            add(PARAMETERS + name + ".params", ParameterFile.write(List.of()));
        }
        if (model.artifacts().of(Loader.RUNTIME).isEmpty()) {
            RuntimeFiles.runtime().forEach(file -> add("runtime/" + file.fileName(), file.content()));
            RuntimeFiles.templates().forEach(file -> add("templates/" + file.fileName(), file.content()));
        }
    }

    private void add(String path, Bytes content) {
        Bytes other = files.putIfAbsent(path, content);
        if (other != null && !other.equals(content)) {
            problems.add(new Problem(
                    "two files of the archive have this name, with different content",
                    path,
                    "models with different names",
                    "Give each model a kiln.name of its own"));
        }
    }
}
