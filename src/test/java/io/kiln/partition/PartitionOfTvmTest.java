// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kiln.compile.Frontends;
import io.kiln.compile.ReadOptions;
import io.kiln.compile.RequestDraft;
import io.kiln.frontend.InputShapes;
import io.kiln.ir.Function;
import io.kiln.ir.Group.Composite;
import io.kiln.reference.GoldenModels;
import io.kiln.reference.NeedsShared;
import io.kiln.reference.SharedFolder;
import io.kiln.transform.PassOptions;
import io.kiln.transform.Pipeline;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What CMSIS-NN takes of a model is what the real {@code partition_for_cmsisnn} of TVM 0.16 takes. */
class PartitionOfTvmTest {
    private static final String TARGET = "cmsis-nn -mcpu=cortex-m55, c -mcpu=cortex-m55";

    @ParameterizedTest
    @CsvSource({
        "kws_ref_model, default, m55",
        "kws_ref_model, mymod, other_name",
        "ad01_int8, default, m55",
        "hello_world_int8, default, m55",
        "hello_world_int8, mymod, other_name",
        "micro_kws_xs, default, m55",
        "simple_add_model, default, m55",
    })
    @NeedsShared({"golden", "tvm"})
    void compositesAndTheirOrderAreThoseOfTvm(String model, String name, String variant) throws IOException {
        JsonNode expected = new ObjectMapper()
                .readTree(SharedFolder.need("tvm")
                        .resolve("cmsisnn-partition.json")
                        .toFile())
                .path(model)
                .path(variant)
                .path("external");
        List<String> composites = new ArrayList<>();
        List<String> results = new ArrayList<>();
        for (JsonNode function : expected) {
            JsonNode composite = function.path("composites").get(0);
            composites.add(function.path("name").asText() + ": "
                    + composite.path("Composite").asText() + " "
                    + withoutLimits(composite.path("PartitionedFromPattern").asText()));
            results.add(function.path("ret").asText().replace(",)", ")"));
        }
        List<ExternalFunction> functions = partition(GoldenModels.model(model), name);

        assertThat(composites).isNotEmpty();
        assertThat(functions)
                .extracting(function -> function.symbol() + ": " + text(function.composite()))
                .containsExactlyElementsOf(composites);
        assertThat(functions)
                .extracting(function -> function.output().dtype().text()
                        + function.output().shape().dims().toString().replace(" ", ""))
                .containsExactlyElementsOf(results);
    }

    private static String text(Composite composite) {
        return composite.name() + " " + withoutLimits(composite.pattern());
    }

    /** Kiln's import leaves out limits that are those of the type. */
    private static String withoutLimits(String pattern) {
        return pattern.endsWith("_clip_") ? pattern.substring(0, pattern.length() - "clip_".length()) : pattern;
    }

    /** The external functions in the order of their calls; every channel stays, as in TVM. */
    static List<ExternalFunction> partition(Path model, String name) {
        Function imported = Frontends.read(model, name, InputShapes.NONE, ReadOptions.DEFAULT);
        Externals externals =
                RequestDraft.of(model, TARGET).name(name).build().target().externals();
        Function fused = Pipeline.of(new PassOptions(256, Set.of("remove-constant-channels")), externals.passes())
                .run(imported);
        return ExternalModule.of(externals, fused, "tvmgen_" + name).functions();
    }
}
