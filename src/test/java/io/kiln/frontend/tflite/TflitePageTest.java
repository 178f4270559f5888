// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KilnException;
import io.kiln.frontend.tflite.SupportedOperators.UnsupportedOperators;
import io.kiln.frontend.tflite.schema.BuiltinOperator;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Every builtin operator of TensorFlow Lite is read, or refused by its name with a reason that the page of operators lists. */
class TflitePageTest {
    private static final Path OPERATORS = Path.of("src", "site", "markdown", "operators.md");
    private static final Path MICRO = Path.of("src/test/resources/io/kiln/frontend/tflite/micro-builtins.txt");

    private static final Set<String> READ =
            new HashSet<>(List.of(SupportedOperators.names().split(", ", -1)));

    private static Stream<BuiltinOperator> refused() {
        return UnsupportedOperators.byReasons().values().stream().flatMap(List::stream);
    }

    @Test
    void everyBuiltinOperatorIsReadOrRefusedWithAReason() {
        assertThat(refused()).doesNotHaveDuplicates();
        Set<BuiltinOperator> refused = refused().collect(Collectors.toSet());
        assertThat(Arrays.stream(BuiltinOperator.values()).filter(operator -> operator != BuiltinOperator.CUSTOM))
                .allMatch(operator -> READ.contains(operator.name()) ^ refused.contains(operator));
    }

    @Test
    void everyBuiltinOperatorOfTensorFlowLiteMicroIsRead() throws IOException {
        List<String> micro = Files.readAllLines(MICRO).stream()
                .filter(line -> !line.startsWith("#"))
                .toList();
        assertThat(micro).hasSize(100).doesNotHaveDuplicates();
        assertThat(READ).containsAll(micro);
    }

    @ParameterizedTest
    @MethodSource("refused")
    void aRefusalNamesTheOperatorAndWhatToDo(BuiltinOperator operator) {
        TfliteModelBuilder model = new TfliteModelBuilder();
        int x = model.tensor(TensorSpec.float32("x", 1, 4));
        int y = model.tensor(TensorSpec.float32("y", 1, 4));
        model.operator(operator.code(), 1, Options.none(), new int[] {x}, y);
        model.inputs(x).outputs(y);
        UnsupportedOperators.Refusal refusal = UnsupportedOperators.of(operator.code());
        assertThatThrownBy(model::read)
                .isInstanceOf(KilnException.class)
                .hasMessageContaining(operator.name() + " version 1 is not supported: it " + refusal.reason())
                .hasMessageContaining(refusal.next());
    }

    @ParameterizedTest
    @CsvSource({
        "FlexErf, an operator of TensorFlow itself, without SELECT_TF_OPS",
        "LceBconv2d, binary weights made by Larq, int8",
        "MyOwn, custom operator `MyOwn`, <code>MyOwn</code>"
    })
    void aCustomOperatorIsNamedWithHowToBringOne(String code, String what, String next) {
        TfliteModelBuilder model = new TfliteModelBuilder();
        int x = model.tensor(TensorSpec.float32("x", 1, 4));
        int y = model.tensor(TensorSpec.float32("y", 1, 4));
        model.custom(code, new int[] {x}, y).inputs(x).outputs(y);
        assertThatThrownBy(model::read)
                .hasMessageContaining("no C function computes the custom operator `" + code + "`")
                .hasMessageContaining(what)
                .hasMessageContaining(next)
                .hasMessageContaining("<customOperators>");
    }

    /** {@code -Dkiln.tflite.write=true} writes the page's table anew. */
    @Test
    void thePageOfOperatorsListsWhatIsRefused() throws IOException {
        StringBuilder rows = new StringBuilder("\n| operators | reason | instead |\n|---|---|---|\n");
        UnsupportedOperators.byReasons()
                .forEach((refusal, operators) -> rows.append("| ")
                        .append(operators.stream()
                                .map(operator -> "`" + operator.name() + "`")
                                .collect(Collectors.joining(" ")))
                        .append(" | ")
                        .append(refusal.reason())
                        .append(" | ")
                        .append(refusal.next())
                        .append(" |\n"));
        String first = "<!-- begin of what TflitePageTest writes -->\n";
        String page = Files.readString(OPERATORS);
        int begin = page.indexOf(first) + first.length();
        int end = page.indexOf("<!-- end of what TflitePageTest writes -->");
        if (Boolean.getBoolean("kiln.tflite.write")) {
            Files.writeString(OPERATORS, page.substring(0, begin) + rows + page.substring(end));
        }
        assertThat(page.substring(begin, end)).isEqualTo(rows.toString());
    }
}
