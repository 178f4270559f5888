// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.inspect;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.WholeFiles;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.GivenInputs;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.frontend.tflite.VelaModel;
import io.kiln.report.Json;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code kiln:inspect} shows of a model with parts for an NPU, whatever the board. */
class NpuPartsTest {
    @TempDir
    private Path folder;

    private Path file;

    @BeforeEach
    void write() {
        file = folder.resolve("mixed.tflite");
        WholeFiles.write(file, VelaModel.mixed(VelaModel.U55_128).build());
    }

    @Test
    void regionsAndOperationsOfEachPartAreShown() {
        List<String> lines = inspector().lines(Optional.of(file));
        assertThat(lines)
                .anyMatch(line -> line.contains("tfl.ethos_u "))
                .contains(
                        "part `a` for ethos-u55-128: 2 operations, 0 MACs, 97 commands in 540 bytes; weights 0 bytes,"
                                + " scales 0, tables 0",
                        "  region 0 weights, 16 bytes",
                        "  region 1 scratch, 512 bytes",
                        "  #0 at 0x118: POOL MAX 4x4x8, IFM 1:0x0..0x80, OFM 1:0x80..0x100",
                        "  #0 at 0x118: POOL MAX 2x2x8, IFM 1:0x180..0x1a0, OFM 1:0x0..0x20");
        assertThat(Json.text(inspector().report(Optional.of(file))))
                .contains("\"npuParts\"")
                .contains("\"npu\" : \"ethos-u55-128\"");
    }

    @Test
    void theStreamIsDisassembled() {
        assertThat(Inspector.lines(file, "list-npu-commands"))
                .contains("  for ethos-u55-128, architecture 1.0.6, 97 commands", "    000020  SET_IFM_REGION 1");
        assertThat(Inspector.lines(file, "?")).contains("list-npu-commands (artifact)");
    }

    private Inspector inspector() {
        BuildSpec spec = SpecDraft.of(new Layout(folder, folder.resolve("out"), "net"), List.of(), "mps2-an386")
                .build();
        return new Inspector(spec, GivenInputs.NONE);
    }
}
