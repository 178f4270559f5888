// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KilnException;
import io.kiln.ir.type.Shape;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class InputShapesTest {
    @Test
    void namesMayHoldColonsAndSemicolons() {
        assertThat(InputShapes.parse(" serving_x:0 : 1,96, 96,1 ; a;b:2 ;").byName())
                .isEqualTo(Map.of("serving_x:0", Shape.of(1, 96, 96, 1), "a;b", Shape.of(2)));
        assertThat(InputShapes.parse("x:0:3;y:1,2").text()).isEqualTo("x:0:3;y:1,2");
        assertThat(InputShapes.parse("  ").isEmpty()).isTrue();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "x|has 'x'",
                "x:|has 'x:'",
                "x:1,a|has 'x:1,a'",
                "x:1;;y|has ';y'",
                "x:0,4|`x` the shape (0,4)",
                "x:9999999999|`x` the shape (9999999999)",
                "x:1,1,1,1,1,1,1,1,1|at most 8 dimensions",
                "x:1;x:2|`x` two shapes"
            })
    void whatIsWrongIsTold(String text, String expected) {
        assertThatThrownBy(() -> InputShapes.parse(text))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining(expected);
    }
}
