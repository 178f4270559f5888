// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ArtifactSet;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.ExternalPool;
import io.kiln.artifact.ModelMetadata.ExternalPool.Kind;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.artifact.ModelMetadata.Plan;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.Log;
import io.kiln.base.Optimize;
import io.kiln.device.protocol.ConsoleProtocol.ImageConsole;
import io.kiln.device.protocol.ConsoleProtocol.ImageConsole.End;
import io.kiln.firmware.CompiledObjects;
import io.kiln.firmware.FirmwareAssembler;
import io.kiln.firmware.FirmwareCompiler;
import io.kiln.firmware.FirmwareLinker;
import io.kiln.firmware.FirmwareRequest;
import io.kiln.firmware.UserCode;
import io.kiln.process.RunningProcess;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.board.Emulation;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * A model in C by hand that needs 64-bit division, floats and memcpy, and what it must answer: for 16 numbers x their int32
 * products x * 123456789 / 1000003, and float32 e^(x / 16) and x * 0.37 / 1.7. If the first is 98 it never returns; 99 is an error.
 */
final class HandWrittenModel {
    static final int N = 16;
    static final List<String> OPERATORS = List.of("tvmgen_hand_fused_divide", "tvmgen_hand_fused_exp");

    private static final String HEADER = """
            /* SPDX-License-Identifier: Apache-2.0 */
            #ifndef TVMGEN_HAND_H_
            #define TVMGEN_HAND_H_
            #include <stdint.h>
            struct tvmgen_hand_inputs { void* x; };
            struct tvmgen_hand_outputs { void* whole; void* real; };
            """;

    private static final String OPERATORS_C = """
            /* SPDX-License-Identifier: Apache-2.0 */
            #include <math.h>
            #include <string.h>
            #include "tvmgen_hand.h"
            int32_t tvmgen_hand_fused_divide(const int32_t* x, int32_t* whole);
            int32_t tvmgen_hand_fused_exp(const int32_t* x, float* real);
            int32_t tvmgen_hand_fused_divide(const int32_t* x, int32_t* whole) {
              int32_t copy[16];
              volatile int64_t divisor = 1000003;
              memcpy(copy, x, sizeof copy);
              for (int i = 0; i < 16; ++i) {
                whole[i] = (int32_t)((int64_t)copy[i] * 123456789 / divisor);
              }
              return 0;
            }
            int32_t tvmgen_hand_fused_exp(const int32_t* x, float* real) {
              for (int i = 0; i < 16; ++i) {
                real[i] = expf((float)x[i] / 16.0f);
                real[16 + i] = (float)x[i] * 0.37f / 1.7f;
              }
              return 0;
            }
            """;

    private static final String MAIN_C = """
            /* SPDX-License-Identifier: Apache-2.0 */
            #include "tvmgen_hand.h"
            int32_t tvmgen_hand_fused_divide(const int32_t* x, int32_t* whole);
            int32_t tvmgen_hand_fused_exp(const int32_t* x, float* real);
            static int32_t run(const int32_t* x, int32_t* whole, float* real) {
              while (*(const volatile int32_t*)x == 98) {
              }
              int32_t result = tvmgen_hand_fused_divide(x, whole);
              return result != 0 || x[0] == 99 ? -5 : tvmgen_hand_fused_exp(x, real);
            }
            """;

    private HandWrittenModel() {}

    static ModelLibrary library(Io io) {
        String header = HEADER + (io == Io.CALLER ? """
                        int32_t tvmgen_hand_run(struct tvmgen_hand_inputs* inputs, struct tvmgen_hand_outputs* outputs);
                        #endif
                        """ : """
                        struct tvmgen_hand_workspace_pools { void* sram; };
                        struct tvmgen_hand_inputs tvmgen_hand_map_inputs(struct tvmgen_hand_workspace_pools* pools);
                        struct tvmgen_hand_outputs tvmgen_hand_map_outputs(struct tvmgen_hand_workspace_pools* pools);
                        int32_t tvmgen_hand_run(struct tvmgen_hand_workspace_pools* pools);
                        #endif
                        """);
        String main = MAIN_C + (io == Io.CALLER ? """
                        int32_t tvmgen_hand_run(struct tvmgen_hand_inputs* inputs, struct tvmgen_hand_outputs* outputs) {
                          return run(inputs->x, outputs->whole, outputs->real);
                        }
                        """ : """
                        struct tvmgen_hand_inputs tvmgen_hand_map_inputs(struct tvmgen_hand_workspace_pools* pools) {
                          struct tvmgen_hand_inputs inputs = {pools->sram};
                          return inputs;
                        }
                        struct tvmgen_hand_outputs tvmgen_hand_map_outputs(struct tvmgen_hand_workspace_pools* pools) {
                          struct tvmgen_hand_outputs outputs = {(uint8_t*)pools->sram + 64, (uint8_t*)pools->sram + 128};
                          return outputs;
                        }
                        int32_t tvmgen_hand_run(struct tvmgen_hand_workspace_pools* pools) {
                          struct tvmgen_hand_outputs outputs = tvmgen_hand_map_outputs(pools);
                          return run(tvmgen_hand_map_inputs(pools).x, outputs.whole, outputs.real);
                        }
                        """);
        return new ModelLibrary(
                metadata(io),
                new ArtifactSet(List.of(
                        Artifact.ofText("c", ArtifactKind.HEADER, "tvmgen_hand.h", header),
                        Artifact.ofText("c", ArtifactKind.SOURCE, "hand_lib0.c", main),
                        Artifact.ofText("c", ArtifactKind.SOURCE, "hand_lib1.c", OPERATORS_C))));
    }

    private static ModelMetadata metadata(Io io) {
        return new ModelMetadata(
                "hand",
                "c",
                ModelMetadata.Interface.typed(
                        io,
                        List.of(new TensorInfo("x", "x", DType.INT32, List.of(N), 0f, 0)),
                        List.of(
                                new TensorInfo("whole", "whole", DType.INT32, List.of(N), 0f, 0),
                                new TensorInfo("real", "real", DType.FLOAT32, List.of(2, N), 0f, 0))),
                new ModelMetadata.Memory(
                        io == Io.CALLER ? 0 : 256,
                        16,
                        0,
                        io == Io.CALLER ? List.of() : List.of(new ExternalPool("sram", Kind.WORKSPACE, 256)),
                        List.of()),
                new Plan("hand", 0, 0, List.of()),
                List.of());
    }

    /** Builds an image with the default application, or with a main.c in the folder {@code main}. */
    static Path build(Board board, String toolchain, Io io, Path folder) {
        return build(board, toolchain, Optimize.SPEED, io, folder);
    }

    private static Path build(Board board, String toolchain, Optimize optimize, Io io, Path folder) {
        FirmwareRequest request = new FirmwareRequest(
                board,
                TestToolchains.resolve(toolchain, board.target()),
                optimize,
                new FirmwareRequest.Content(List.of(library(io)), UserCode.of(folder.resolve("main"))),
                FirmwareRequest.Folders.in(folder),
                "test");
        CompiledObjects objects = FirmwareCompiler.compile(FirmwareAssembler.assemble(request, Log.QUIET), Log.QUIET);
        return FirmwareLinker.link(objects, folder, "hand", Log.QUIET).elf();
    }

    /** Builds an image with this C as its main.c. */
    static Path withMain(Board board, String toolchain, String code, Path folder) throws IOException {
        return withMain(board, toolchain, Optimize.SPEED, code, folder);
    }

    static Path withMain(Board board, String toolchain, Optimize optimize, String code, Path folder)
            throws IOException {
        Files.writeString(Files.createDirectories(folder.resolve("main")).resolve("main.c"), code);
        return build(board, toolchain, optimize, Io.CALLER, folder);
    }

    /** Runs an image to its end. */
    static End end(Emulator emulator, Path image) {
        try (RunningProcess process = emulator.start(image)) {
            return ImageConsole.follow(process.output(), emulator.limit(), text -> {}, text -> false);
        }
    }

    /** The same board in another emulator. */
    static Board with(Board real, Emulation emulation) {
        return real.with(real.hardware().with(emulation));
    }

    static Board board(String id) {
        return Boards.builtIn().find(id);
    }

    static Bytes input(int first) {
        ByteBuffer buffer = ByteBuffer.allocate(4 * N).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < N; i++) {
            buffer.putInt(first + 7 * i);
        }
        return Bytes.wrap(buffer.array());
    }

    /** Whether the outputs are those of {@link #input}: integers and divisions exactly, exponentials within a unit or so. */
    static boolean answers(int first, List<Bytes> outputs) {
        ByteBuffer whole = outputs.get(0).buffer();
        ByteBuffer real = outputs.get(1).buffer();
        boolean good = true;
        for (int i = 0; i < N; i++) {
            int x = first + 7 * i;
            float exp = (float) Math.exp(x / 16.0);
            good &= whole.getInt(4 * i) == (int) (x * 123456789L / 1000003L);
            good &= Math.abs(real.getFloat(4 * i) - exp) <= 2 * Math.ulp(exp);
            good &= real.getFloat(4 * (N + i)) == x * 0.37f / 1.7f;
        }
        return good;
    }
}
