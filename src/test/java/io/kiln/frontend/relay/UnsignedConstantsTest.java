// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Sums, differences and products of constants of unsigned types that no operator computes wrap around like those of TVM. */
class UnsignedConstantsTest {
    @ParameterizedTest
    @CsvSource({
        "add, uint32, -1, 3, 2",
        "subtract, uint32, 2, 3, 4294967295",
        "multiply, uint32, 65536, 65537, 65536",
        "multiply, uint32, 65535, 65537, 4294967295",
        "add, uint64, -1, 3, 2",
        "subtract, uint64, 2, 3, -1",
        "multiply, uint64, 4294967296, 3, 12884901888",
    })
    void theyWrapAround(String operator, String dtype, long lhs, long rhs, long result) {
        String call = operator + "(" + of(lhs, dtype) + ", " + of(rhs, dtype) + ")";
        assertThat(integers(call)).containsExactly(result);
    }

    @Test
    void theyBroadcast() {
        String column = "reshape(broadcast_to(" + of(-1, "uint32") + ", shape=[2]), newshape=[2, 1])";
        String row = "broadcast_to(" + of(5, "uint32") + ", shape=[3])";
        assertThat(integers("add(" + column + ", " + row + ")")).containsExactly(4L, 4L, 4L, 4L, 4L, 4L);
    }

    @Test
    void thoseOfDifferentTypesAreRefused() {
        assertThatThrownBy(() -> integers("add(" + of(1, "uint32") + ", " + of(1, "uint64") + ")"))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("m.relay:2")
                .hasMessageContaining("uint32");
    }

    private static String of(long value, String dtype) {
        return "cast(cast(" + value + "f, dtype=\"int64\"), dtype=\"" + dtype + "\")";
    }

    /** The elements of a constant, of which only the cast to int64 is left. */
    private static List<Long> integers(String call) {
        String text = "def @main(%x: Tensor[(1), int64]) {\n  add(%x, cast(" + call + ", dtype=\"int64\"))\n}\n";
        Function function = RelayFrontend.read(Bytes.ofText(text), "m.relay", Optional.empty(), "m.params", "default");
        Constant constant = function.bindings().get(0).constant(1);
        return IntStream.range(0, constant.elements())
                .mapToObj(constant::integer)
                .toList();
    }
}
