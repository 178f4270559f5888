// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.resolve;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.flow.resolve.ResolvedBuild.CmsisNnTarget;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CmsisNnTargetTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "arm_softmax_s8(const int8_t* input); | 4.1.0",
                "arm_vector_sum_s8(int32_t* s, int32_t c, int32_t r, const int8_t* d); | 5.0.0",
                "cmsis_nn_bias_data arm_vector_sum_s8(int32_t* s, int32_t c, int32_t r, int8_t* d, int32_t o, int32_t* b); | 6.0.0",
                "cmsis_nn_bias_data arm_vector_sum_s8(a, b, c, d, e, f, g); | 7.0.0",
                "/* see arm_vector_sum_s8() */ cmsis_nn_bias_data arm_vector_sum_s8(a, b, c, d, e, f, g); | 7.0.0",
            })
    void theHeaderTellsTheVersion(String header, String version) {
        assertThat(CmsisNnTarget.version(header)).isEqualTo(version);
    }
}
