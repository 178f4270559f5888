// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.text;

import io.kiln.base.DType;
import io.kiln.ir.op.AvgPool2d;
import io.kiln.ir.op.Cast;
import io.kiln.ir.op.Concatenate;
import io.kiln.ir.op.FixedPointMultiply;
import io.kiln.ir.op.Full;
import io.kiln.ir.op.If;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.QnnAdd;
import io.kiln.ir.op.QnnBinary;
import io.kiln.ir.op.QnnConv2d;
import io.kiln.ir.op.QnnConv2dTranspose;
import io.kiln.ir.op.QnnDense;
import io.kiln.ir.op.QnnDequantize;
import io.kiln.ir.op.QnnQuantize;
import io.kiln.ir.op.Resize2d;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.Softmax;
import io.kiln.ir.type.TensorType;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * How an operator is called in the text: as TVM's operator where that computes the same, without attributes that TVM does not know. Any other
 * has a name that begins with {@code tfl.}; TVM can read such a call where somebody registered an operator of that name, its attributes
 * being a dictionary then.
 *
 * @param name the operator's name in the text
 * @param attributes its attributes in the text
 */
record Spelling(String name, Map<String, Object> attributes) {
    /** What the names of operators begin with that TVM does not have. */
    static final String OWN = "tfl.";

    /** Tells TVM's parser what to make of the attributes of an operator that states no type for them. */
    static final String TYPE_KEY = "attrs_type_key";

    private static final String DICTIONARY = "DictAttrs";
    private static final String ROUNDING = "rounding";
    private static final Set<String> TRUTHS = Set.of("keepdims", "select_last_index", "count_include_pad");

    /** The spelling of an operator on arguments of these types. */
    static Spelling of(Op op, List<TensorType> args) {
        if (op instanceof If) {
            // The parser of TVM takes `if` for a keyword wherever it stands.
            return foreign("tfl.if_then_else", op.attributes());
        }
        if (op instanceof Cast to) {
            boolean saturates = args.get(0).dtype().isFloat() && !to.dtype().isFloat();
            return saturates ? foreign(op.name(), op.attributes()) : standard("cast", op.attributes());
        }
        if (op.name().startsWith(OWN)) {
            return foreign(op.name(), op.attributes());
        }
        if (!isStandard(op, args)) {
            return foreign(OWN + op.name(), op.attributes());
        }
        Map<String, Object> attributes = new LinkedHashMap<>(op.attributes());
        if (op instanceof QnnQuantize || op instanceof QnnAdd || op instanceof AvgPool2d) {
            attributes.remove(ROUNDING);
        } else if (op instanceof QnnDequantize) {
            attributes.put("out_dtype", DType.FLOAT32.text());
        } else if (op instanceof Full) {
            attributes.put("dtype", args.get(0).dtype().text());
        }
        return standard(op.name(), attributes);
    }

    /** Whether TVM's operator of the name computes the same. */
    private static boolean isStandard(Op op, List<TensorType> args) {
        boolean isFloat = !args.isEmpty() && args.get(0).dtype().isFloat();
        if (op instanceof AvgPool2d pool) {
            return isFloat || (pool.rounding() == Rounding.TRUNCATE && (isTruncated(op, args) || isWord(args)));
        }
        if (op instanceof QnnAdd add) {
            return add.rounding() == Rounding.UPWARD;
        }
        if (op instanceof QnnConv2d || op instanceof QnnDense || op instanceof QnnConv2dTranspose) {
            return !isFloat;
        }
        if (op instanceof Softmax softmax) {
            return softmax.beta() == 1;
        }
        boolean differs = op instanceof QnnBinary || op instanceof Resize2d || op instanceof FixedPointMultiply;
        return !differs;
    }

    private static boolean isWord(List<TensorType> args) {
        return args.get(0).dtype() == DType.INT32;
    }

    /** Whether it is a mean of int8, which TVM's operator computes of int32 between two casts. */
    static boolean isTruncated(Op op, List<TensorType> args) {
        return op instanceof AvgPool2d pool
                && pool.rounding() == Rounding.TRUNCATE
                && args.get(0).dtype() == DType.INT8;
    }

    /** Whether its arguments are one tuple. */
    static boolean isOfTuple(Op op) {
        return op instanceof Concatenate;
    }

    /** Whether TVM has no operator of this name. */
    boolean isForeign() {
        return name.startsWith(OWN);
    }

    private static Spelling standard(String name, Map<String, Object> attributes) {
        Map<String, Object> spelled = new LinkedHashMap<>(attributes);
        TRUTHS.forEach(key -> spelled.computeIfPresent(key, (k, value) -> value.equals(1)));
        return new Spelling(name, spelled);
    }

    private static Spelling foreign(String name, Map<String, Object> attributes) {
        Map<String, Object> spelled = new LinkedHashMap<>(attributes);
        if (!spelled.isEmpty()) {
            spelled.put(TYPE_KEY, DICTIONARY);
        }
        return new Spelling(name, spelled);
    }
}
