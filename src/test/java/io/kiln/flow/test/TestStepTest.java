// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.kiln.base.KeptLog;
import io.kiln.base.KilnException;
import io.kiln.device.flash.TestOpenOcd;
import io.kiln.flow.Flow;
import io.kiln.flow.GestureProject;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.DeviceSpec.ConsoleSpec;
import io.kiln.flow.spec.DeviceSpec.FlashSpec;
import io.kiln.flow.spec.ImageSpec.TestSpec;
import io.kiln.flow.test.TestStep.ScriptReader;
import io.kiln.process.TestPrograms;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code kiln:test} makes of a project's program and of its unit tests. */
final class TestStepTest {
    private static final String PROGRAM = """
        #include "kiln_console.h"
        #include "mean.h"

        int main(void) {
          kiln_console_text("ready\\r\\n");
          int digit = kiln_console_get() - '0';
          int numbers[] = {digit, digit + 2};
          kiln_console_text("mean ");
          kiln_console_put((uint8_t)('0' + mean(numbers, 2)));
          kiln_console_text("\\nbye\\n");
          return 3;
        }
        """;
    private static final String MEAN = """
        #include "mean.h"
        int mean(const int* numbers, int count) {
          int sum = 0;
          for (int i = 0; i < count; ++i) {
            sum += numbers[i];
          }
          return sum / count;
        }
        """;
    private static final String UNIT = """
        #include "kiln_test.h"
        #include "mean.h"

        KILN_TEST(one_number) {
          int seven = 7;
          KILN_CHECK_EQUAL(mean(&seven, 1), 7);
        }
        KILN_TEST(negative_numbers) {
          int numbers[] = {-5, -7};
          KILN_CHECK(mean(numbers, 2) == -6);
        }
        """;

    @TempDir
    Path folder;

    private final KeptLog log = new KeptLog();

    /** One project throughout: only what changes is built again. */
    @Test
    void programAndUnitTestsRunAndFailByName() throws IOException {
        TestPrograms.need("qemu-system-arm");
        write("src/main/c/main.c", PROGRAM);
        write("src/main/c/mean.h", "int mean(const int* numbers, int count);\n");
        write("src/main/c/mean.c", MEAN);
        write("src/test/c/mean_test.c", UNIT);
        write("src/test/firmware/talk.yaml", """
            schema: 1
            steps:
              - expect: ready
              - send: "5"
              - expect: "mean 6\\nbye"
            exit: 3
            timeout: 60
            """);
        test();
        assertThat(log.said())
                .contains(
                        "unit tests on this computer: 2 tests, all passed",
                        "unit tests on mps2-an386: 2 tests, all passed")
                .anySatisfy(line -> assertThat(line)
                        .startsWith("program on qemu-system-arm")
                        .endsWith("1 test, all passed"));
        assertThat(report())
                .contains("<testcase classname=\"unit tests on this computer\" name=\"one_number\" time=\"")
                .contains("name=\"talk\" time=\"")
                .doesNotContain("<failure");

        nothingRunsAgainUnlessSomethingChanged();
        mistakesAreNamed();
    }

    private void nothingRunsAgainUnlessSomethingChanged() throws IOException {
        log.said().clear();
        test();
        assertThat(log.said())
                .as("what was said of the image is not repeated")
                .containsExactly("Testing: nothing changed");
        write("src/main/c/mean.c", MEAN + "\n/* Another. */\n");
        log.said().clear();
        test();
        assertThat(log.said())
                .anyMatch(line -> line.startsWith("Testing: ") && line.contains("changed"))
                .anyMatch(line -> line.startsWith("unit tests on") && line.endsWith("all passed"));
    }

    private void mistakesAreNamed() throws IOException {
        write(
                "src/test/c/mean_test.c",
                UNIT + "KILN_TEST(wrong) { KILN_CHECK_EQUAL(2 + 2, -5); }\n"
                        + "KILN_TEST(fault) { __builtin_trap(); }\n");
        write("src/test/firmware/code.yaml", "schema: 1\nsteps:\n  - expect: ready\n  - send: \"1\"\nexit: 0\n");
        write(
                "src/test/firmware/text.yaml",
                "schema: 1\nsteps:\n  - expect: ready\n  - send: \"1\"\n  - expect: mean 9\n");
        write("src/test/firmware/wait.yaml", "schema: 1\ntimeout: 1\nsteps:\n  - expect: ready\n  - expect: never\n");
        KilnException failed = catchThrowableOfType(KilnException.class, this::test);
        assertThat(failed)
                .hasMessageContaining(
                        "unit tests on this computer, wrong: src/test/c/mean_test.c:12: 2 + 2 == -5: 4 is not -5")
                .hasMessageContaining("unit tests on mps2-an386, wrong: src/test/c/mean_test.c:12")
                .hasMessageContaining("code.yaml:5:1: the program did not end as it should: it ended with code 3")
                .hasMessageContaining("text.yaml:5:5: the program did not print this text; it ended with code 3")
                .hasMessageContaining("It printed: mean 2")
                .hasMessageContaining("wait.yaml:5:5: the program did not print this text; it was stopped after 1 s")
                .hasMessageContaining("the image stopped with a fault");
        assertThat(report()).contains("<testsuite name=\"unit tests on mps2-an386\" tests=\"4\" failures=\"2\"");
    }

    /** The virtual board keeps its flash: the second test only starts what the first one flashed. */
    @Test
    void aBoardIsFlashedAndTalkedTo() throws IOException {
        TestOpenOcd.get();
        TestPrograms.need("qemu-system-arm");
        write("src/main/c/main.c", """
            #include "kiln_console.h"
            int main(void) {
              kiln_console_text("ready\\n");
              return kiln_console_get() - '0';
            }
            """);
        String script = "schema: 1\ntimeout: 60\nsteps:\n  - expect: ready\n  - send: \"%d\"\nexit: 4\n";
        write("src/test/firmware/a_right.yaml", String.format(Locale.ROOT, script, 4));
        write("src/test/firmware/b_wrong.yaml", String.format(Locale.ROOT, script, 5));
        TestSpec onBoard = TestSpec.of("board", List.of("target"));
        DeviceSpec device = new DeviceSpec(
                FlashSpec.USUAL, true, new ConsoleSpec(Optional.empty(), Optional.empty(), Optional.empty()));
        assertThatThrownBy(() -> new Flow(log, TestToolchains.environment(log))
                        .test(
                                new GestureProject(folder)
                                        .spec("virtual-stm32f405")
                                        .verify(GestureProject.UNVERIFIED)
                                        .build(),
                                device,
                                onBoard))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("b_wrong.yaml:6:1: the program did not end as it should: it ended with code 5")
                .hasMessageNotContaining("a_right");
        assertThat(log.said())
                .contains("program on the board virtual-stm32f405: 2 tests, 1 failed")
                .anyMatch(line -> line.startsWith("virtual: flashed and verified"))
                .anyMatch(line -> line.startsWith("virtual: holds this image already"));
    }

    @Test
    void mistakesInAllFilesAreNamedWithLineAndColumn() throws IOException {
        write("src/test/firmware/a.yaml", "schema: 1\nsteps:\n  - expext: ready\n  - expect: [1]\ntimeout: 0\n");
        write("src/test/firmware/b.yaml", "schema: 2\n");
        write("src/test/firmware/c.yaml", "steps: [\n");
        assertThatThrownBy(() -> ScriptReader.read(folder.resolve("src/test/firmware")))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("a.yaml:3:5: unknown key \"expext\"")
                .hasMessageContaining("a.yaml:4:5: steps.1.expect")
                .hasMessageContaining("a.yaml:5:1: timeout")
                .hasMessageContaining("b.yaml:1:1: schema")
                .hasMessageContaining("c.yaml:2");
    }

    /** The first goal of a project tells mistakes in scripts and descriptions of samples, which later goals read. */
    @Test
    void mistakesAreToldBeforeAnythingIsBuilt() throws IOException {
        write("src/test/firmware/a.yaml", "schema: 1\nsteps:\n  - expext: ready\n");
        write("vectors/samples.yaml", "schema: 1\nsound: {}\nsoud: {}\n");
        BuildSpec spec = new GestureProject(folder)
                .spec("mps2-an387")
                .verify(new VerifySpec(VerifyOn.EMULATOR, Optional.of(folder.resolve("vectors")), 0, 0))
                .build();
        Flow flow = new Flow(log, TestToolchains.environment(log));
        for (Consumer<BuildSpec> goal : List.<Consumer<BuildSpec>>of(flow::resolve, flow::resolveAhead)) {
            assertThatThrownBy(() -> goal.accept(spec))
                    .isInstanceOf(KilnException.class)
                    .hasMessageStartingWith("4 problems")
                    .hasMessageContaining("there is no board mps2-an387")
                    .hasMessageContaining("a.yaml:3:5: unknown key \"expext\". Did you mean expect?")
                    .hasMessageContaining("samples.yaml:3:1: unknown key \"soud\". Did you mean sound?");
        }
    }

    private void test() {
        new Flow(log, TestToolchains.environment(log))
                .test(
                        new GestureProject(folder)
                                .spec("mps2-an386")
                                .verify(GestureProject.UNVERIFIED)
                                .build(),
                        DeviceSpec.USUAL,
                        TestSpec.USUAL);
    }

    private String report() throws IOException {
        return new GestureProject(folder).text("kiln/TEST-kiln-test.xml");
    }

    private void write(String name, String text) throws IOException {
        Path file = folder.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }
}
