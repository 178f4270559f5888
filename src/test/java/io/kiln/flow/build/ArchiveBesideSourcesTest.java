// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KilnException;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.mlf.TvmArchive;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Models of archives beside other models, CMSIS-NN and the C of a project. */
final class ArchiveBesideSourcesTest extends ArchiveProject {
    @Test
    void oneModelOfAnArchiveStandsBesideAModelOfKilnsOwn() throws IOException {
        assumeRunnable("host", "host");
        Path file = TvmArchive.of("v7").save(folder.resolve("net.tar"));
        TvmArchive.vectors("v7", folder.resolve("vectors"));
        Path gesture = Path.of("src", "it", "quickstart", "src", "main", "model", "gesture.tflite");
        BuildSpec spec =
                spec("host", "host", List.of(new ModelSource(gesture, "gesture"), new ModelSource(file, "beta")));
        flow.build(spec, DeviceSpec.USUAL);

        assertThat(json("kiln/verify.json").path("cases").findValuesAsText("name"))
                .containsExactly("gesture/random_0", "gesture/random_1", "beta/vector_0");
        assertThat(folder.resolve("out/generated-sources/kiln/codegen/host/src"))
                .isDirectoryNotContaining("glob:**alpha*");
        Path again = folder.resolve("again.tar");
        Files.copy(folder.resolve("out/net-mlf.tar"), again);
        BuildSpec reread = spec("host", "host", again);
        flow.build(withVerify(reread, new VerifySpec(VerifyOn.NONE, Optional.empty(), 0, 0)), DeviceSpec.USUAL);
        assertThat(json("kiln/report.json").path("name").asText()).isEqualTo("beta, gesture");
    }

    /** Nothing but a host calls the operators of such an archive. */
    @Test
    void singleOperatorsNeedAServer() throws IOException {
        Path file = TvmArchive.of("v7")
                .without("codegen/")
                .without("src/")
                .with("metadata.json", """
                    {"version": 7, "model_name": "one", "target": ["c"], "executors": [], "style": "operator", "memory": {}}\
                    """)
                .with("codegen/host/src/lib0.c", "int one(void* a, int* b, int c);\n")
                .save(folder.resolve("net.tar"));
        BuildSpec spec = withVerify(spec("host", "host", file), new VerifySpec(VerifyOn.NONE, Optional.empty(), 0, 0));
        assertThatThrownBy(() -> flow.generate(spec))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining(
                        "archive `one` has the style `operator`: nothing in it calls its operators in order")
                .hasMessageContaining("Set kiln.application to rpc");
    }

    @Test
    void callsOfCmsisNnAreAMissingDependency() throws IOException {
        assumeRunnable("host", "host");
        String source = "codegen/host/src/default_lib2.c";
        TvmArchive archive = TvmArchive.of("v6")
                .with(source, """
                    // tvm target: cmsis-nn -keys=cpu -mcpu=cortex-m55
                    #include <stdint.h>
                    #include <arm_nnfunctions.h>
                    #include <arm_nn_types.h>
                    TVM_DLL int32_t tvmgen_default_cmsis_nn_main_0(int8_t* input_) {
                      arm_convolve_wrapper_s8(0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
                      return 0;
                    }
                    """)
                .replacing("metadata.json", "\"tvm_standalone_crt\"", "\"cmsis-nn\"");
        BuildSpec spec = withVerify(
                spec("host", "host", archive.save(folder.resolve("net.tar"))),
                new VerifySpec(VerifyOn.NONE, Optional.empty(), 0, 0));
        assertThatThrownBy(() -> flow.build(spec, DeviceSpec.USUAL))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("net.tar: default_lib2.c: CMSIS-NN is missing: the C includes")
                .hasMessageContaining("arm_nn_types.h, arm_nnfunctions.h (external_dependencies: cmsis-nn 0.9.dev0)")
                .hasMessageContaining("src/main/c/include");

        write("src/main/c/include/arm_nn_types.h", "");
        write("src/main/c/include/arm_nnfunctions.h", """
            #define TVM_DLL
            void arm_convolve_wrapper_s8(int, int, int, int, int, int, int, int, int, int);
            """);
        write("src/main/c/nn.c", """
            #include <arm_nnfunctions.h>
            void arm_convolve_wrapper_s8(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j) {
              (void)(a + b + c + d + e + f + g + h + i + j);
            }
            """);
        flow.build(spec, DeviceSpec.USUAL);
    }

    @Test
    void aProjectMayTakeCareOfTheMemoryItself() throws IOException {
        assumeRunnable("host", "host");
        write("src/main/c/memory.c", """
            #include <tvm/runtime/crt/platform.h>
            static uint8_t memory[4096] __attribute__((aligned(16)));
            static size_t used;
            tvm_crt_error_t TVMPlatformMemoryAllocate(size_t num_bytes, DLDevice dev, void** out_ptr) {
              (void)dev;
              *out_ptr = memory + used;
              used += (num_bytes + 15u) / 16u * 16u;
              return kTvmErrorNoError;
            }
            tvm_crt_error_t TVMPlatformMemoryFree(void* ptr, DLDevice dev) {
              (void)dev;
              used = (size_t)((uint8_t*)ptr - memory);
              return kTvmErrorNoError;
            }
            """);
        Path file = TvmArchive.of("v5").save(folder.resolve("net.tar"));
        TvmArchive.vectors("v5", folder.resolve("vectors"));
        flow.build(spec("host", "host", file), DeviceSpec.USUAL);
        assertThat(folder.resolve("out/firmware/runtime/src/workspace_memory.c"))
                .doesNotExist();
    }
}
