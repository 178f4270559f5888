// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.rule;

import static java.util.Map.entry;

import io.kiln.frontend.CustomOperator;
import io.kiln.frontend.relay.value.Attributes;
import io.kiln.frontend.relay.value.Rule;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.call.CustomCall;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.Map;
import java.util.regex.Pattern;

/** Calls of the user's C functions. */
final class CustomCallRules {
    private static final int MAX = Integer.MAX_VALUE;
    private static final int MAX_ARGUMENTS = 256;
    private static final Pattern ANY = Pattern.compile(".*", Pattern.DOTALL);

    static final Map<String, Rule> ALL = Map.ofEntries(entry("tfl.custom", Rule.of(CustomCallRules::call)));

    private CustomCallRules() {}

    private static Op call(Attributes a) {
        return new CustomCall(
                a.text("code", ANY),
                a.text("function", CustomOperator.FUNCTION),
                a.text("header", CustomOperator.HEADER),
                a.integer("inputs", 1, MAX_ARGUMENTS),
                a.integer("outputs", 1, MAX_ARGUMENTS),
                new TensorType(new Shape(a.integers("shape", 1, MAX)), a.dtype("out_dtype")),
                a.truth("quantization", false),
                a.integer("options_size", 0, MAX, -1));
    }
}
