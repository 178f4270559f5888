// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.type;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

/** How many elements shapes have. */
class ShapeTest {
    private static final int MAX = Integer.MAX_VALUE;

    @Test
    void elementsAreCounted() {
        assertThat(Shape.scalar().elements()).isEqualTo(1);
        assertThat(Shape.of(2, 3, 4).elements()).isEqualTo(24);
        assertThatThrownBy(() -> Shape.of(MAX, MAX, MAX).elements()).isInstanceOf(ArithmeticException.class);
    }

    @Test
    void nothingIsNotTooMuch() {
        assertThat(Shape.of(MAX, MAX, MAX, 0).elements()).isZero();
        assertThat(Shape.of(0, MAX, MAX, MAX).elements()).isZero();
    }
}
