// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.flash;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class TclTest {
    private static final String NASTY = "[]{}$\\\"; #\n\t()'`~&|<>*?!exit";

    @BeforeEach
    void openOcdIsThere() {
        TestOpenOcd.get();
    }

    private static List<String> nastyValues() {
        List<String> values = new ArrayList<>(List.of(
                "",
                "[shutdown]",
                "a; shutdown",
                "}; shutdown; {",
                "\" ; shutdown",
                "\\",
                "$env(HOME)",
                "x\nshutdown",
                "#"));
        Random random = new Random(5);
        for (int i = 0; i < 60; i++) {
            StringBuilder text = new StringBuilder("v");
            for (int k = 0; k < 12; k++) {
                text.append(NASTY.charAt(random.nextInt(NASTY.length())));
            }
            values.add(text.toString());
        }
        return values;
    }

    @Test
    void noValueRunsACommand() {
        List<String> values = nastyValues();
        List<String> arguments = new ArrayList<>();
        for (String value : values) {
            // What Tcl received is told as numbers, so that nothing of it can be mistaken.
            arguments.addAll(List.of(
                    "-c",
                    "set v " + Tcl.word(value)
                            + "; set n {}; foreach c [split $v {}] {lappend n [scan $c %c]}; echo \"@@ $n\""));
        }
        arguments.addAll(List.of("-c", "shutdown"));
        String said = ProcessRunner.run(
                        Command.of(TestOpenOcd.get().executable().toString(), arguments))
                .message();
        List<String> received =
                said.lines().filter(line -> line.startsWith("@@")).toList();
        List<String> sent = values.stream()
                .map(value -> ("@@ "
                                + String.join(
                                        " ",
                                        value.chars().mapToObj(String::valueOf).toList()))
                        .strip())
                .toList();
        assertThat(received.stream().map(String::strip)).containsExactlyElementsOf(sent);
    }

    @Test
    void listsAreOneWord() {
        String said = ProcessRunner.run(Command.of(
                        TestOpenOcd.get().executable().toString(),
                        "-c",
                        "foreach {a b} " + Tcl.list(List.of("x y", "[1]", "}", "z")) + " {echo \"@@$a/$b\"}",
                        "-c",
                        "shutdown"))
                .message();
        assertThat(said.lines().filter(line -> line.startsWith("@@"))).containsExactly("@@x y/[1]", "@@}/z");
    }
}
