// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.mlf.TvmArchive;
import io.kiln.reference.NeedsShared;
import io.kiln.reference.SharedFolder;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Firmware from archives whose models take memory pools from their caller. */
final class PooledArchivesTest extends ArchiveProject {
    private static final String HEADER = "codegen/host/include/tvmgen_beta.h";
    private static final String ENTRY = "codegen/host/src/beta_lib0.c";

    @ParameterizedTest
    @CsvSource({
        "pool, host, host",
        "constpool, host, host",
        "constpool, mps2-an386, clang",
        "wsio_pool, host, host",
        "wsio_2pool, mps2-an386, clang"
    })
    @NeedsShared("tvm")
    void archivesOfTvmAnswerWhatTvmAnswers(String kind, String board, String toolchain) throws IOException {
        assumeRunnable(board, toolchain);
        Path tvm = SharedFolder.need("tvm");
        Path vectors = tvm.resolve("vectors").resolve("hello_world_int8");
        List<ModelSource> models =
                List.of(new ModelSource(tvm.resolve("hello_world_int8__aot_c_" + kind + ".tar"), "default"));
        BuildSpec spec = SpecDraft.of(spec(board, toolchain, models))
                .verify(new VerifySpec(VerifyOn.EMULATOR, Optional.of(vectors), 2, 0))
                .build();
        flow.build(spec, DeviceSpec.USUAL);

        assertThat(json("kiln/verify.json").path("bitExact").asBoolean()).isTrue();
        assertThat(json("kiln/verify.json").path("cases")).hasSize(3);
        assertThat(json("kiln/report.json").at("/flash/constants").asLong())
                .isGreaterThanOrEqualTo(kind.equals("constpool") ? 708 : 0);
    }

    /** Of the model's three pools one holds inputs and outputs, one is filled by each run, one has constants. */
    @Test
    void everyPoolHasMemoryOfItsOwn() throws IOException {
        Path archive = TvmArchive.of("v7")
                .replacing(HEADER, "  void* sram;\n", "  void* dtcm;\n  void* sram;\n  void* flash;\n")
                .replacing(HEADER, "#define TVMGEN_BETA_WORKSPACE_SIZE 0", """
                    #define TVMGEN_BETA_WORKSPACE_SIZE 0
                    #define TVMGEN_BETA_DTCM_WORKSPACE_POOL_SIZE 4096
                    #define TVMGEN_BETA_FLASH_CONSTANT_POOL_SIZE 3
                    #define TVMGEN_BETA_FLASH_CONSTANT_POOL_DATA \\
                        0x02, 0x03, \\
                        0x05\\
                    """)
                .replacing(ENTRY, "{return tvmgen_beta___tvm_main__(", """
                    {
                      const uint8_t* primes = workspace_pools->flash;
                      uint8_t* fast = workspace_pools->dtcm;
                      for (int i = 0; i < 4096; i++) {
                        fast[i] = 0x55;
                      }
                      if (primes[0] != 2 || primes[1] != 3 || primes[2] != 5) {
                        return -1;
                      }
                      return tvmgen_beta___tvm_main__(\
                    """)
                .save(folder.resolve("net.tar"));
        TvmArchive.vectors("v7", folder.resolve("vectors"));
        flow.build(spec("host", "host", archive), DeviceSpec.USUAL);

        assertThat(json("kiln/verify.json").path("passed").asBoolean()).isTrue();
        assertThat(json("kiln/report.json").at("/ram/workspace").asLong()).isGreaterThanOrEqualTo(4096 + 42);
    }
}
