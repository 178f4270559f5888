// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CNamesTest {
    @Test
    void tensorNamesKeepWhatCAllows() {
        assertThat(CNames.tensors(
                        "m", List.of("serving_default_x:0", "1st", "été", "", "float"), List.of("Out/put", "")))
                .containsExactly("serving_default_x_0", "_1st", "__t__", "input3", "float_", "Out_put", "output1");
    }

    @Test
    void tensorNamesThatBecomeTheSameAreListedAtOnce() {
        assertThatThrownBy(() -> CNames.tensors("m", List.of("a:0", "a/0", "b"), List.of("B")))
                .hasMessageContaining("`a:0` and `a/0` both become a_0")
                .hasMessageContaining("`b` and `B` both become B");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "2net", "my-net", "naïve", "while", "_x"})
    void modelNamesThatCannotNameAModuleAreRefused(String name) {
        assertThat(CNames.modelNameProblem(name, "x.tflite")).isPresent();
    }

    @ParameterizedTest
    @ValueSource(strings = {"default", "kws", "Net_2"})
    void othersAreAllowed(String name) {
        assertThat(CNames.modelNameProblem(name, "x.tflite")).isEmpty();
    }
}
