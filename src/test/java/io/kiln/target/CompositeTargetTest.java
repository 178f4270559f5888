// SPDX-License-Identifier: Apache-2.0
package io.kiln.target;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KilnException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CompositeTargetTest {
    private static final String HOST = "c -keys=arm_cpu,cpu -mcpu=cortex-m55";

    @ParameterizedTest
    @ValueSource(
            strings = {
                "my-npu -lanes=8, cmsis-nn -mcpu=cortex-m55 -mattr=+nodsp, " + HOST,
                "'my-npu' -lanes=8, \"cmsis-nn\" -mattr=\"+nodsp\" -mcpu=cortex-m55 ,  c -mcpu=cortex-m55",
            })
    void spacesAndQuotesMakeNoDifference(String text) {
        CompositeTarget target = CompositeTarget.parse(text);
        assertThat(target.text()).isEqualTo("my-npu -lanes=8, cmsis-nn -mattr=+nodsp -mcpu=cortex-m55, " + HOST);
        assertThat(CompositeTarget.parse(target.text())).isEqualTo(target);
    }

    @Test
    void commasWithinValuesAndQuotesSeparateNothing() {
        CompositeTarget target = CompositeTarget.parse("cmsis-nn -mattr='+nodsp,+nomve',c -keys=arm_cpu,cpu");
        assertThat(target.externals().get(0).option("mattr", "")).isEqualTo("+nodsp,+nomve");
        assertThat(target.host().keys()).containsExactly("arm_cpu", "cpu");
        assertThat(CompositeTarget.parse("cmsis-nn,c").externals()).hasSize(1);
    }

    @Test
    void aTargetOfOneKindHasNoParts() {
        assertThat(CompositeTarget.parse(HOST).externals()).isEqualTo(List.of());
        assertThat(CompositeTarget.parse(HOST).text()).isEqualTo(HOST);
        assertThat(CompositeTarget.hostText("cmsis-nn, " + HOST)).isEqualTo(HOST);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "cmsis-nn, cmsis-nn, c | `cmsis-nn` is given twice",
                "c, llvm | `c` is no code generator beside the host's",
                ", c | `` is not the name of a code generator",
                "-x=1, c | `-x=1` is not the name of a code generator",
                "cmsis-nn mcpu, c | `mcpu` is not an option of cmsis-nn",
                "cmsis-nn -a=1 -a=2, c | `-a` of cmsis-nn is given twice",
                "cmsis-nn -a=$(x), c | has characters that are not allowed",
                "cmsis-nn, cc | unknown target kind `cc`",
                "cmsis-nn, | the target is empty",
                "cmsis-nn -mattr=\"+nodsp, c | a quote is not closed",
            })
    void badTargetsAreRefused(String text, String message) {
        assertThatThrownBy(() -> CompositeTarget.parse(text))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining(message);
    }
}
