// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.ArtifactKind;
import io.kiln.base.Optimize;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.process.TestPrograms;
import io.kiln.reference.GoldenModels;
import io.kiln.reference.NeedsShared;
import io.kiln.target.TestTargets;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** With {@code kiln.portable}, nothing that a compiler for the target sees is assembly or a vendor's intrinsic. */
class PortableKernelsTest {
    private static final Path MODEL = Path.of("src", "it", "quickstart", "src", "main", "model", "gesture.tflite");

    /** Golden models that share no kernel family: int8, int16 and float layers, recurrent ones, sums and movements. */
    private static final List<String> MODELS = List.of(
            "hello_world_int8",
            "hello_world_float",
            "micro_speech_quantized",
            "micro_kws_xs",
            "micro_kws_m",
            "kws_ref_model",
            "kws_ref_model_float32",
            "keyword_scrambled",
            "trained_lstm_int8",
            "simple_add_model",
            "seanet_conv8",
            "seanet_transpose_conv2",
            "seanet_leaky_relu0");

    /** Assembly but for empty barriers, which hold values where they are on any machine. */
    private static final Pattern MACHINE =
            Pattern.compile("\\b(?:__asm__|asm)\\b(?!(?: volatile)?\\s*\\(\\s*\"\"\\s*[:)])"
                    + "|\\bv[a-z0-9]+q(_[a-z0-9]+)+\\(|__builtin_arm|__smlad");

    @TempDir
    private Path folder;

    static Stream<Arguments> cores() {
        return Stream.of(
                Arguments.of(TestTargets.M0, List.of("arm-none-eabi-gcc", "-mcpu=cortex-m0", "-mthumb")),
                Arguments.of(TestTargets.M3, List.of("arm-none-eabi-gcc", "-mcpu=cortex-m3", "-mthumb")),
                Arguments.of(
                        TestTargets.M4, List.of("arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard")),
                Arguments.of(
                        TestTargets.M55,
                        List.of("arm-none-eabi-gcc", "-mcpu=cortex-m55", "-mthumb", "-mfloat-abi=hard")),
                Arguments.of(TestTargets.RV32, List.of("riscv64-unknown-elf-gcc", "-march=rv32imac", "-mabi=ilp32")));
    }

    @NeedsShared("golden")
    @ParameterizedTest
    @MethodSource("cores")
    void onlyTheTwinsAreLeft(String target, List<String> compiler) throws IOException {
        TestPrograms.need(compiler.get(0));
        RequestDraft draft = RequestDraft.of(MODEL, target).name("gesture");
        assertThat(preprocessed(Map.of("gesture", draft.build()), compiler)).containsPattern(MACHINE);
        Map<String, CompileRequest> portable = new TreeMap<>();
        portable.put("gesture", draft.portable().build());
        for (String model : MODELS) {
            Path file = GoldenModels.folder(model).resolve("model.tflite");
            portable.put(
                    model, RequestDraft.of(file, target).name(model).portable().build());
        }
        assertThat(preprocessed(portable, compiler)).doesNotContainPattern(MACHINE);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "__asm__ volatile(\"\" : \"+r\"(value)); | false",
                "__asm__(\"\" : : : \"memory\"); | false",
                "plasma(1); | false",
                "__asm__ volatile( \"nop\\n\" ); | true",
                "register int r0 __asm__(\"r0\") = 1; | true",
                "asm(\"nop\"); | true",
                "vaddq_s32(a, b); | true"
            })
    void emptyBarriersAreNoAssembly(String line, boolean isMachine) {
        assertThat(MACHINE.matcher(line).find()).isEqualTo(isMachine);
    }

    @ParameterizedTest
    @EnumSource(Optimize.class)
    void scheduleAndNamesAreTheSame(Optimize optimize) {
        RequestDraft draft =
                RequestDraft.of(MODEL, TestTargets.M4).name("gesture").optimize(optimize);
        String own = code(draft.build());
        String portable = code(draft.portable().build());
        assertThat(portable).isNotEqualTo(own);
        assertThat(portable.replaceAll("\n/\\* kiln\\.portable.*\n(#undef .*\n)+", ""))
                .isEqualTo(own);
    }

    /** The C of the operators of models as the compiler sees it, without that of its own headers. */
    private String preprocessed(Map<String, CompileRequest> models, List<String> compiler) throws IOException {
        List<String> line = new ArrayList<>(compiler);
        line.addAll(List.of("-E", "-P"));
        for (Map.Entry<String, CompileRequest> model : models.entrySet()) {
            String own = code(model.getValue())
                    .lines()
                    .filter(each -> !each.startsWith("#include"))
                    .collect(Collectors.joining("\n"));
            assertThat(own).as(model.getKey()).contains("tvmgen_" + model.getKey());
            Path file = folder.resolve(model.getKey() + ".c");
            Files.writeString(file, own);
            line.add(file.toString());
        }
        ProcessResult result = ProcessRunner.run(Command.ofLine(line));
        assertThat(result.exitCode()).as(result.errors()).isZero();
        models.keySet().forEach(model -> assertThat(result.output()).contains("tvmgen_" + model));
        return result.output();
    }

    private static String code(CompileRequest request) {
        return ModelCompiler.compile(request).library().artifacts().artifacts().stream()
                .filter(file ->
                        file.kind() == ArtifactKind.SOURCE && file.fileName().endsWith("_lib1.c"))
                .map(file -> file.text())
                .collect(Collectors.joining());
    }
}
