// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.app;

import io.kiln.artifact.InterfaceNames;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.ResourceTree;
import io.kiln.toolchain.board.Board;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The application of an image whose project has no {@code main.c}: C files that use the board's {@code kiln_console.h}
 * and the models' {@code tvmgen_<name>.h}. Its protocol is described in {@code kiln_app.h}.
 */
public final class DefaultApplication {
    /** Largest number of models in one image. */
    public static final int MAX_MODELS = 255;

    private DefaultApplication() {}

    /**
     * All files of the application for these models.
     *
     * @param models 1 to {@link #MAX_MODELS}, in the order of the host's model numbers
     * @return sources and headers by file name
     */
    public static SortedMap<String, Bytes> files(List<ModelMetadata> models) {
        return files(models, Set.of());
    }

    /** All files of the application for compiled models, with audio where signal processing is among their files. */
    public static SortedMap<String, Bytes> running(List<ModelLibrary> models) {
        return files(
                models.stream().map(ModelLibrary::metadata).toList(),
                models.stream()
                        .filter(ModelLibrary::hears)
                        .map(model -> model.metadata().name())
                        .collect(Collectors.toUnmodifiableSet()));
    }

    /**
     * All files of the application for these models, some of which take audio too: behind the models, in the table, each of those stands once
     * more as {@link InterfaceNames#audio}, whose input are samples of 16 bits.
     *
     * @param hearing names of the models with signal processing before them
     */
    static SortedMap<String, Bytes> files(List<ModelMetadata> models, Set<String> hearing) {
        int count = models.size() + hearing.size();
        if (models.isEmpty() || count > MAX_MODELS) {
            throw Failure.CONFIG.exception("the application has " + count + " models", "", "1 to " + MAX_MODELS);
        }
        TreeMap<String, Bytes> files = new TreeMap<>(ResourceTree.read("templates/app"));
        files.put("kiln_app_models.c", Bytes.ofText(ModelTable.print(models, hearing)));
        return files;
    }

    /**
     * All files of the application that a runner of MLPerf Tiny measures.
     *
     * @param hasMain whether the project has a main of its own, which calls the model by {@code kiln_th.h}
     * @throws KilnException if it cannot measure these models on this board
     */
    public static SortedMap<String, Bytes> measured(
            List<ModelLibrary> models, Board board, MlperfOptions options, boolean hasMain) {
        return MlperfTiny.files(models, board, options, hasMain);
    }

    /** All files of the RPC server's application, which takes its models from their system library. */
    public static SortedMap<String, Bytes> server() {
        return ResourceTree.read("templates/rpc");
    }
}
