// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KilnException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How a user names functions for operators, in one line or one by one. */
class CustomOperatorsTest {
    @Test
    void oneLineNamesSeveral() {
        List<CustomOperator> list = CustomOperators.parse("MyOp:my_op:dsp/my_op.h:input0; Other:other::1,10;Last:last;"
                + "Told:told:::quantization,options:src/test/c/told.c");
        assertThat(list)
                .containsExactly(
                        new CustomOperator("MyOp", "my_op", "dsp/my_op.h", "input0"),
                        new CustomOperator("Other", "other", "", "1,10"),
                        new CustomOperator("Last", "last", "", ""),
                        new CustomOperator("Told", "told", "", "", "quantization,options", "src/test/c/told.c"));
        CustomOperators operators = CustomOperators.of(list);
        assertThat(CustomOperators.parse(operators.text())).isEqualTo(list);
        assertThat(operators.of("Other").orElseThrow().shapeInput()).isEmpty();
        assertThat(operators.of("MyOp").orElseThrow().shapeInput()).contains(0);
        assertThat(operators.of("my_op")).isEmpty();
        assertThat(operators.of("Told").orElseThrow().passesOptions()).isTrue();
        assertThat(operators.of("Told").orElseThrow().passesQuantization()).isTrue();
        assertThat(operators.of("Last").orElseThrow().passesOptions()).isFalse();
        assertThat(CustomOperators.parse(" ")).isEmpty();
    }

    @Test
    void everythingWrongIsToldAtOnce() {
        List<CustomOperator> list = CustomOperators.parse(
                "A:2f;B:tvmgen_x;C:c:a\"b.h;D:d::input;E:e::0,1;A:f;G:g::99999999999;H:h:::scales;I:i::::i.so");
        assertThatThrownBy(() -> CustomOperators.of(list))
                .isInstanceOfSatisfying(
                        KilnException.class,
                        e -> assertThat(e.problems())
                                .hasSize(9)
                                .allMatch(problem -> problem.where().equals("kiln.customOperators")));
    }
}
