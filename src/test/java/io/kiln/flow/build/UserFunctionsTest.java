// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.CompilerSpec.CodegenSpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.frontend.relay.RelayFrontend;
import io.kiln.partition.ExternalCodegen;
import io.kiln.partition.UserFunctions.External;
import io.kiln.reference.OwnModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** C functions of the user compute chains of operators, without Java. */
final class UserFunctionsTest extends ArchiveProject {
    /** The sum of the model, on 128 by 128 elements: zero points and multipliers are those of its scales. */
    private static final String SUM = """
        #include <stdint.h>
        int32_t my_sum(const int8_t* a, const int8_t* b, const float* a_scale, const int32_t* a_zero,
                       const float* b_scale, const int32_t* b_zero, const float* scale, const int32_t* zero, int8_t* out);
        int32_t my_sum(const int8_t* a, const int8_t* b, const float* a_scale, const int32_t* a_zero,
                       const float* b_scale, const int32_t* b_zero, const float* scale, const int32_t* zero, int8_t* out) {
          for (int32_t i = 0; i < 128 * 128; ++i) {
            const double real = (double)*a_scale * (a[i] - *a_zero) + (double)*b_scale * (b[i] - *b_zero);
            const double steps = real / *scale;
            const int32_t value = (int32_t)(steps < 0 ? steps - 0.5 : steps + 0.5) + *zero;
            out[i] = (int8_t)(value < -128 ? -128 : value > 127 ? 127 : value);
          }
          return @;
        }
        """;

    @Test
    void aFunctionTakesItsOperatorsAndIsHeldAgainstTheModel() throws IOException {
        assumeRunnable("host", "host");
        write(0);
        flow.build(spec(), DeviceSpec.USUAL);
        assertThat(json("kiln/verify.json").path("bitExact").asBoolean()).isTrue();
        assertThat(json("kiln/report.json")
                        .path("operators")
                        .get(0)
                        .path("codegen")
                        .asText())
                .isEqualTo("user");
        assertThat(json("kiln/report.json")
                        .path("operators")
                        .get(0)
                        .path("composite")
                        .asText())
                .isEqualTo("user.sum");

        assertThat(said).noneMatch(line -> line.contains("takes no operators"));

        write(7);
        assertThatThrownBy(() -> flow.build(spec(), DeviceSpec.USUAL))
                .hasMessageContaining("the model returned error -1");
    }

    @Test
    void wrongDeclarationsAreRefusedAllAtOnce() {
        assertThatThrownBy(() -> own(
                        new External("a-b", List.of("qnn.add?"), "tvmgen_f", "x y.h", false),
                        new External("ok", List.of(), "f", "", false),
                        new External("near", List.of("qnn.ad", "clip?"), "return", "", false)))
                .hasMessageContaining("an external is named `a-b`")
                .hasMessageContaining("the function of `a-b` is `tvmgen_f`")
                .hasMessageContaining("the header of `a-b` is `x y.h`")
                .hasMessageContaining("the operators of `a-b` are `qnn.add?`")
                .hasMessageContaining("the operators of `ok` are ``")
                .hasMessageContaining("the function of `near` is `return`")
                .hasMessageContaining("there is no operator `qnn.ad`, which `near` takes")
                .hasMessageContaining("Did you mean qnn.add");
    }

    private static List<ExternalCodegen> own(External... externals) {
        return new CodegenSpec(Optional.empty(), Optional.empty(), List.of(externals)).own();
    }

    @Test
    void aFunctionThatIsNowhereIsToBeDefined() {
        assumeRunnable("host", "host");
        assertThatThrownBy(() -> flow.build(spec(), DeviceSpec.USUAL))
                .hasMessageContaining("net.elf: does not link")
                .hasMessageContaining("my_sum")
                .hasMessageContaining("Define what is undefined in src/main/c");
    }

    @Test
    void aFunctionThatTakesNothingIsNamed() {
        assumeRunnable("host", "host");
        External product = new External("product", List.of("qnn.mul", "clip?"), "my_product", "", false);
        flow.build(spec(product), DeviceSpec.USUAL);
        assertThat(said)
                .anyMatch(line ->
                        line.contains("`product` of <externals> takes no operators: no model has `qnn.mul clip?`"));
    }

    /** The same chain of int8 and of int16. */
    @Test
    void aFunctionHasOneListOfTypes() {
        String text = """
            def @main(%a: Tensor[(1, 8), int8], %b: Tensor[(1, 8), int16]) {
              %0 = clip(%a, a_min=0f, a_max=6f);
              %1 = clip(%b, a_min=0f, a_max=6f);
              (%0, %1)
            }
            """;
        Path file = folder.resolve("clips.relay");
        assertThatThrownBy(() -> ModelCompiler.compile(
                        RequestDraft.of(file, "user, c -keys=cpu -model=host")
                                .codegens(own(new External("clips", List.of("clip"), "my_clip", "", false)))
                                .build(),
                        RelayFrontend.read(Bytes.ofText(text), "clips.relay", Optional.empty(), "", "default")))
                .hasMessageContaining("`my_clip` would be called with (const int16_t*, int16_t*)")
                .hasMessageContaining("and with (const int8_t*, int8_t*)");
    }

    @Test
    void withoutFunctionsTheTargetNamesNone() {
        assertThatThrownBy(() ->
                        ModelCompiler.compile(RequestDraft.of(OwnModel.SINE.model(), "user, c -keys=cpu -model=host")
                                .build()))
                .hasMessageContaining("there is no code generator `user`")
                .hasMessageContaining("Name C functions of your own in <externals>");
    }

    private void write(int status) throws IOException {
        Files.createDirectories(folder.resolve("src/main/c"));
        Files.writeString(folder.resolve("src/main/c/my_sum.c"), SUM.replace("@", Integer.toString(status)));
    }

    private BuildSpec spec() {
        return spec(new External("sum", List.of("qnn.add", "clip?"), "my_sum", "", true));
    }

    private BuildSpec spec(External external) {
        return SpecDraft.of(
                        new Layout(folder, folder.resolve("out"), "net"),
                        List.of(new ModelSource(OwnModel.SUMS.model(), "sums")),
                        "host")
                .codegens(new CodegenSpec(Optional.empty(), Optional.empty(), List.of(external)))
                .verify(new VerifySpec(VerifyOn.EMULATOR, Optional.empty(), 1, 0))
                .build();
    }
}
