// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ArtifactSet;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.artifact.ModelMetadata.Plan;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.base.DType;
import io.kiln.base.Log;
import io.kiln.base.Optimize;
import io.kiln.firmware.FirmwareRequest.ImageOptions;
import io.kiln.firmware.image.ImageFiles.Image;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.compiler.TestToolchains;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A model library written by hand, just large enough to be measured, and requests that use it. */
public final class TestFirmware {
    private TestFirmware() {}

    /** A model that adds table[i] to each of its 16 input bytes. */
    public static ModelLibrary model(String name, int tableBytes) {
        String target = "c";
        TensorInfo input = new TensorInfo("x", "x", DType.INT8, List.of(1, 16), 1f, 0);
        TensorInfo output = new TensorInfo("y", "y", DType.INT8, List.of(1, 16), 1f, 0);
        String header = """
                /* SPDX-License-Identifier: Apache-2.0 */
                #ifndef TVMGEN_@_H_
                #define TVMGEN_@_H_
                #include <stdint.h>
                struct tvmgen_@_inputs { void* x; };
                struct tvmgen_@_outputs { void* y; };
                int32_t tvmgen_@_run(struct tvmgen_@_inputs* inputs, struct tvmgen_@_outputs* outputs);
                #endif
                """.replace("@", name);
        String lib0 = """
                /* SPDX-License-Identifier: Apache-2.0 */
                #include "tvmgen_@.h"
                __attribute__((section(".bss.noinit.tvm"), aligned(16))) static uint8_t global_workspace[256];
                int32_t tvmgen_@_add(const int8_t* x, int8_t* y, uint8_t* pool);
                int32_t tvmgen_@_run(struct tvmgen_@_inputs* inputs, struct tvmgen_@_outputs* outputs) {
                  return tvmgen_@_add(inputs->x, outputs->y, global_workspace);
                }
                """.replace("@", name);
        String lib1 = """
                /* SPDX-License-Identifier: Apache-2.0 */
                #include <stdint.h>
                #include <string.h>
                int32_t tvmgen_@_add(const int8_t* x, int8_t* y, uint8_t* pool);
                static const int8_t table[~] = {1, 2, 3};
                int32_t tvmgen_@_add(const int8_t* x, int8_t* y, uint8_t* pool) {
                  memcpy(pool, x, 16);
                  for (uint32_t i = 0; i < 16u; ++i) {
                    y[i] = (int8_t)(pool[i] + table[(pool[i] * 37u + i) % ~u]);
                  }
                  return 0;
                }
                """.replace("@", name).replace("~", Integer.toString(tableBytes));
        List<Artifact> artifacts = new ArrayList<>();
        artifacts.add(Artifact.ofText("c", ArtifactKind.HEADER, "tvmgen_" + name + ".h", header));
        artifacts.add(Artifact.ofText("c", ArtifactKind.SOURCE, name + "_lib0.c", lib0));
        artifacts.add(Artifact.ofText("c", ArtifactKind.SOURCE, name + "_lib1.c", lib1));
        ModelMetadata metadata = new ModelMetadata(
                name,
                target,
                ModelMetadata.Interface.typed(Io.CALLER, List.of(input), List.of(output)),
                new ModelMetadata.Memory(256, 16, tableBytes),
                new Plan("hand", 256, 256, List.of()),
                List.of());
        return new ModelLibrary(metadata, new ArtifactSet(artifacts));
    }

    public static Board board(String id) {
        return Boards.builtIn().find(id);
    }

    /** The same request with trusted archives. */
    public static FirmwareRequest trusting(FirmwareRequest request, TrustedArchives trusted) {
        FirmwareRequest.Content content = request.content();
        return request.with(new FirmwareRequest.Content(
                content.models(),
                content.code(),
                new ImageOptions(request.application(), trusted),
                content.brought(),
                content.extra()));
    }

    /** A request with one small model. */
    public static FirmwareRequest request(String board, String toolchain, Path folder) {
        return request(board(board), toolchain, Optimize.SPEED, List.of(model("default", 1000)), folder);
    }

    public static FirmwareRequest request(
            Board board, String toolchain, Optimize optimize, List<ModelLibrary> models, Path folder) {
        return new FirmwareRequest(
                board,
                TestToolchains.resolve(toolchain, board.target()),
                optimize,
                new FirmwareRequest.Content(models, UserCode.of(folder.resolve("src/main/c"))),
                new FirmwareRequest.Folders(folder.resolve("target/firmware"), folder.resolve("target/kiln/build")),
                "test");
    }

    /** All steps. */
    public static Image build(FirmwareRequest request, Path folder, Log log) {
        CompiledObjects objects = FirmwareCompiler.compile(FirmwareAssembler.assemble(request, log), log);
        return FirmwareLinker.link(objects, folder.resolve("target"), "app", log);
    }
}
