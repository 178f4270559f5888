// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.artifact.OperatorInfo.ChosenSchedule;
import io.kiln.artifact.RuntimeFiles.RuntimeConfig;
import io.kiln.base.DType;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class RuntimeConfigTest {
    private static final TensorInfo SMALL = tensor("x", 2);

    @Test
    void limitsStayWhereTheyAreEnough() {
        RuntimeConfig config =
                RuntimeConfig.of(List.of(model("kws", List.of(SMALL), List.of(SMALL), "tvmgen_kws_add")));

        assertThat(RuntimeFiles.runtime())
                .allSatisfy(file -> assertThat(config.applyTo(file)).isEqualTo(file));
        assertThat(RuntimeFiles.templates())
                .allSatisfy(file -> assertThat(config.applyTo(file)).isEqualTo(file));
    }

    @Test
    void limitsAreRaisedToWhatAnyModelNeeds() {
        String text = config(RuntimeConfig.of(List.of(
                model("small", List.of(SMALL), List.of(SMALL), "tvmgen_small_add"),
                model("wide", List.of(SMALL), Collections.nCopies(11, SMALL), "tvmgen_wide_" + "f".repeat(130)),
                model("deep", List.of(tensor("n".repeat(99), 8)), List.of(SMALL), "tvmgen_deep_add"))));

        assertThat(text)
                .contains("#define TVM_CRT_MAX_ARGS 12\n")
                .contains("#define TVM_CRT_MAX_NDIM 8\n")
                .contains("#define TVM_CRT_MAX_STRLEN_FUNCTION_NAME 143\n")
                .contains("#define TVM_CRT_MAX_STRLEN_PARAM_NAME 100\n")
                .contains("#define TVM_CRT_MAX_REGISTERED_MODULES 2\n")
                .contains("#define TVM_CRT_LAST_ERROR_SIZE_BYTES 1024\n");
    }

    /** The longest name that the runtime makes itself is that of the metadata's function. */
    @Test
    void aLongNameOfAModelCounts() {
        String text = config(RuntimeConfig.of(List.of(model("m".repeat(110), List.of(SMALL), List.of(), "f"))));

        assertThat(text).contains("#define TVM_CRT_MAX_STRLEN_FUNCTION_NAME 133\n");
    }

    private static String config(RuntimeConfig config) {
        return RuntimeFiles.runtime().stream()
                .map(config::applyTo)
                .filter(file -> file.fileName().equals("include/crt_config.h"))
                .findFirst()
                .orElseThrow()
                .text();
    }

    private static TensorInfo tensor(String name, int rank) {
        return new TensorInfo(name, "", DType.INT8, Collections.nCopies(rank, 1), 0f, 0);
    }

    private static ModelMetadata model(
            String name, List<TensorInfo> inputs, List<TensorInfo> outputs, String operator) {
        OperatorInfo info = new OperatorInfo(
                operator,
                List.of(),
                "add",
                inputs,
                outputs,
                new OperatorInfo.Cost(0, 0, 0, 0),
                new ChosenSchedule("loops", ""));
        return new ModelMetadata(
                name,
                "c",
                ModelMetadata.Interface.typed(Io.CALLER, inputs, outputs),
                new ModelMetadata.Memory(0, 16, 0),
                new ModelMetadata.Plan("none", 0, 0, List.of()),
                List.of(info));
    }
}
