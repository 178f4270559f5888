// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Which functions a C file offers to others. */
class CDefinitionsTest {
    @Test
    void functionsOfAFileAreNotThoseOfOthers() {
        assertThat(CmsisNnSources.defined("""
                #define __STATIC_INLINE static \\
                    inline
                static int32_t clamp(int32_t x) { return x; }
                __attribute__((always_inline)) static inline int32_t *
                scale(const int32_t *x)
                {
                    if (x) { while (*x) { } }
                    return x;
                }
                __STATIC_FORCEINLINE int16_t read(const int8_t **in) { return 0; }
                #if defined(ARM_MATH_MVEI)
                #pragma GCC optimize("unroll-loops") static
                /* static */ arm_cmsis_nn_status arm_first_s8(const int8_t *in,
                                                 int8_t *out)
                {
                    static int32_t calls;
                    return ARM_CMSIS_NN_SUCCESS;
                }
                #else
                arm_cmsis_nn_status arm_first_s8(const int8_t *in, int8_t *out) { return 0; }
                #endif
                static const int32_t table[2] = {1, 2};
                void arm_second_s8(void) { arm_first_s8(0, 0); }
                void arm_declared_s8(void);
                """)).containsExactly("arm_first_s8", "arm_second_s8");
    }
}
