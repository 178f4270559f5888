// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.base.Bytes;
import io.kiln.compile.CompiledModel;
import io.kiln.compile.HostProgram;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.draw.RandomOperators;
import io.kiln.ir.Function;
import io.kiln.reference.Interpreter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the programs of other tests find in C. */
class HostProgramTest {
    private static final long SEED = 10_000;

    @TempDir
    private Path folder;

    @Test
    void modelsInOneProgramAnswerAsTheInterpreterDoes() {
        Bytes expected = Interpreter.run(RandomOperators.next(SEED), inputs()).get(0);
        byte[] answers = run(UnaryOperator.identity()).toArray();
        assertThat(answers).startsWith(expected.toArray()).endsWith(expected.toArray());
        assertThat(answers).hasSize(2 * expected.size());
    }

    @Test
    void aReadBehindAnArrayFails() {
        fails(
                "volatile int32_t past = 4;\n  volatile int8_t few[4] = {0};\n  few[past] = few[0];",
                "index 4 out of bounds");
    }

    @Test
    void anAddressOutsideAnObjectFails() {
        fails(
                "volatile int32_t past = 4096;\n  ((volatile int8_t*)outputs)[(int)sizeof *outputs + past - 4092] = 1;",
                "AddressSanitizer");
    }

    @Test
    void anOverflowFails() {
        fails("volatile int32_t most = INT32_MAX;\n  most = most + 1;", "signed integer overflow");
    }

    @Test
    void aWarningFails() {
        fails("int8_t low = 1;\n  low += outputs != 0;", "-Werror=conversion");
    }

    @Test
    void aHelperOfTheOtherModelIsNotThere() {
        fails("kiln_of_the_other();", "kiln_of_the_other");
    }

    /** Builds and runs a program whose second model begins with these statements. */
    private void fails(String statements, String message) {
        assertThatThrownBy(() -> run(text -> text.replaceFirst("return tvmgen_", statements + "\n  $0")))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining(message);
    }

    private static List<Bytes> inputs() {
        return RandomOperators.next(SEED).params().stream()
                .map(p -> RandomOperators.input(p.type(), 1))
                .toList();
    }

    /** The same operator twice, a helper added to the first and the entry point of the second changed. */
    private Bytes run(UnaryOperator<String> change) {
        Function function = RandomOperators.next(SEED);
        List<CompiledModel> models = new ArrayList<>();
        List<List<Artifact>> artifacts = new ArrayList<>();
        for (String name : List.of("first", "second")) {
            CompiledModel compiled = ModelCompiler.compile(
                    RequestDraft.of(Path.of("random"), "c -keys=cpu").name(name).build(), function);
            models.add(compiled);
            artifacts.add(new ArrayList<>(compiled.library().artifacts().artifacts()));
        }
        artifacts
                .get(0)
                .add(Artifact.ofText(
                        "c",
                        ArtifactKind.SOURCE,
                        "helper.c",
                        "int kiln_of_the_other(void);\nint kiln_of_the_other(void) { return 0; }\n"));
        artifacts
                .get(1)
                .replaceAll(file -> file.fileName().endsWith("_lib0.c")
                        ? Artifact.ofText(
                                "c",
                                ArtifactKind.SOURCE,
                                file.fileName(),
                                change.apply(file.content().text()))
                        : file);
        List<Bytes> both = new ArrayList<>(inputs());
        both.addAll(inputs());
        return HostProgram.build(
                        folder, models.stream().map(m -> m.library().metadata()).toList(), artifacts)
                .run(both);
    }
}
