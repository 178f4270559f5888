// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

/**
 * Paths in a Model Library Format archive (python/tvm/micro/model_library_format.py). A firmware project has the same
 * folders, so that an unpacked archive can replace them. Folders have no trailing slash.
 */
public final class ArchivePaths {
    public static final String METADATA = "metadata.json";

    /** The folder of generated code, with a folder for each target key. */
    public static final String CODEGEN = "codegen";

    /** The folder of the host core's code: sources, headers and objects. */
    public static final String CODE = CODEGEN + "/" + Artifact.HOST;

    /** The C runtime. */
    public static final String RUNTIME = "runtime";

    /** Public headers, below {@link #CODE} and {@link #RUNTIME}. */
    public static final String INCLUDE = "include";

    /** C sources, below {@link #CODE} and {@link #RUNTIME}; at the top level, the models as Relay text. */
    public static final String SRC = "src";

    /** Objects, below {@link #CODE}. */
    public static final String LIB = "lib";

    /** Relay text in archives of one model, before version 7. */
    public static final String RELAY_OF_ONE_MODEL = SRC + "/relay.txt";

    /** Beside the Relay texts: what tells TVM of the operators that it lacks. It belongs to no model. */
    public static final String RELAY_OPERATORS = SRC + "/kiln_relay.py";

    /** The graph in archives of one model, before version 7. */
    public static final String GRAPH_OF_ONE_MODEL = "executor-config/graph/graph.json";

    private ArchivePaths() {}

    /**
     * The folder of a kind of artifact; for kinds that have a folder for each target, that of the host core.
     *
     * @param kind any but a payload, whose folder has its loader's name
     */
    public static String folder(ArtifactKind kind) {
        return switch (kind) {
            case SOURCE, HEADER, OBJECT -> CODE + "/" + nativeFolder(kind);
            case PAYLOAD -> throw new IllegalArgumentException("a payload's folder has its loader's name");
            case RUNTIME -> RUNTIME;
            case RELAY -> SRC;
            case PARAMETERS -> "parameters";
            case TEMPLATE -> "templates";
            case GRAPH -> "executor-config/graph";
        };
    }

    /** The path of an artifact of the host core. */
    public static String of(ArtifactKind kind, String fileName) {
        return folder(kind) + "/" + fileName;
    }

    /** The path of an artifact: what is made for a target lies in the folder of its key. */
    public static String of(Artifact artifact) {
        ArtifactKind kind = artifact.kind();
        if (kind.isNative() || kind == ArtifactKind.PAYLOAD) {
            return code(artifact.targetKey(), kind.isNative() ? nativeFolder(kind) : artifact.loader()) + "/"
                    + artifact.fileName();
        }
        return of(kind, artifact.fileName());
    }

    public static String code(String targetKey, String folder) {
        return CODEGEN + "/" + targetKey + "/" + folder;
    }

    /** The folder of native code below a target's key. */
    static String nativeFolder(ArtifactKind kind) {
        return kind == ArtifactKind.SOURCE ? SRC : kind == ArtifactKind.HEADER ? INCLUDE : LIB;
    }

    /** File name of a model as Relay text. */
    public static String relayFile(String model) {
        return model + ".relay";
    }

    /** File name of a model's graph. */
    public static String graphFile(String model) {
        return model + ".graph";
    }

    /** File name of a model's serialised parameters. */
    public static String parametersFile(String model) {
        return model + ".params";
    }

    /** The path of a model's header. */
    public static String header(String model) {
        return of(ArtifactKind.HEADER, new InterfaceNames(model).header());
    }
}
