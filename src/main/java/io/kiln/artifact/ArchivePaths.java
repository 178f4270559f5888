// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

import io.kiln.artifact.Artifact.Loader;

/**
 * Paths in a Model Library Format archive (python/tvm/micro/model_library_format.py). A firmware project has the same
 * folders, so that an unpacked archive can replace them. Folders have no trailing slash.
 */
public final class ArchivePaths {
    /** The archive's description of its models. */
    public static final String METADATA = "metadata.json";

    /** The folder of generated code: sources, headers and objects. */
    public static final String CODE = "codegen/host";

    /** The C runtime. */
    public static final String RUNTIME = "runtime";

    /** Public headers, below {@link #CODE} and {@link #RUNTIME}. */
    public static final String INCLUDE = "include";

    /** C sources, below {@link #CODE} and {@link #RUNTIME}; at the top level, the models as Relay text. */
    public static final String SRC = "src";

    /** Relay text in archives of one model, before version 7. */
    public static final String RELAY_OF_ONE_MODEL = SRC + "/relay.txt";

    /** The graph in archives of one model, before version 7. */
    public static final String GRAPH_OF_ONE_MODEL = "executor-config/graph/graph.json";

    private ArchivePaths() {}

    /** The folder of a kind of artifact. */
    public static String folder(Loader loader) {
        return switch (loader) {
            case SOURCE -> CODE + "/" + SRC;
            case HEADER -> CODE + "/" + INCLUDE;
            case OBJECT -> CODE + "/lib";
            case RUNTIME -> RUNTIME;
            case RELAY -> SRC;
            case PARAMETERS -> "parameters";
            case TEMPLATE -> "templates";
            case GRAPH -> "executor-config/graph";
        };
    }

    /** The path of an artifact. */
    public static String of(Loader loader, String fileName) {
        return folder(loader) + "/" + fileName;
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
        return of(Loader.HEADER, new InterfaceNames(model).header());
    }
}
