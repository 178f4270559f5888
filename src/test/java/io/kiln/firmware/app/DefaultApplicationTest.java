// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.ExternalPool;
import io.kiln.artifact.ModelMetadata.ExternalPool.Kind;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.artifact.ModelMetadata.Plan;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.base.DType;
import io.kiln.base.KilnException;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class DefaultApplicationTest {
    @Test
    void generatedNamesAreInLowerCaseAndTheBannersAreNot() {
        String table = table(model("WakeWord", Io.CALLER, 10, 3));
        assertThat(table)
                .contains("#include \"tvmgen_wakeword.h\"")
                .contains("struct tvmgen_wakeword_inputs inputs;")
                .contains("return tvmgen_wakeword_run(&inputs, &outputs);")
                .contains("{\"WakeWord\", 1u, 1u,");
    }

    @Test
    void modelsShareOneBufferThatIsAsLargeAsTheLargestNeeds() {
        String table = table(model("small", Io.CALLER, 10, 3), model("large", Io.CALLER, 100, 20));
        assertThat(table)
                .contains("static uint8_t kiln_app_io[144];")
                .contains("offsets[] = {0u, 16u};")
                .contains("offsets[] = {0u, 112u};")
                .contains("kiln_app_model_count = 2u;")
                .doesNotContain("kiln_app_workspace");
    }

    @Test
    void workspaceModelsShareOnePoolInTheWorkspacesSection() {
        String table = table(model("small", Io.WORKSPACE, 10, 3), model("large", Io.WORKSPACE, 100, 20));
        assertThat(table)
                .contains("section(\".bss.noinit.tvm.sram\"), aligned(16)")
                .contains("kiln_app_workspace_sram[400];")
                .doesNotContain("kiln_app_io");
    }

    @Test
    void tooManyModelsAreRefused() {
        List<ModelMetadata> many = Collections.nCopies(256, model("m", Io.CALLER, 1, 1));
        assertThatThrownBy(() -> DefaultApplication.files(many))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("256 models");
    }

    private static String table(ModelMetadata... models) {
        return DefaultApplication.files(List.of(models))
                .get("kiln_app_models.c")
                .text();
    }

    private static ModelMetadata model(String name, Io io, int inputBytes, int outputBytes) {
        return new ModelMetadata(
                name,
                "c",
                ModelMetadata.Interface.typed(
                        io,
                        List.of(new TensorInfo("x", "x", DType.INT8, List.of(inputBytes), 1f, 0)),
                        List.of(new TensorInfo("y", "y", DType.INT8, List.of(outputBytes), 1f, 0))),
                new ModelMetadata.Memory(
                        4L * inputBytes,
                        16,
                        0,
                        io == Io.CALLER
                                ? List.of()
                                : List.of(new ExternalPool("sram", Kind.WORKSPACE, 4L * inputBytes)),
                        List.of()),
                new Plan("hand", 0, 0, List.of()),
                List.of());
    }
}
