// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op;

import io.kiln.ir.type.TensorType;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * The form of an operator in Relay text: TVM's operator if that computes the same, without attributes unknown to TVM.
 * Otherwise the name begins with {@code tfl.}; TVM can read such a call if an operator of that name is registered, and
 * its attributes are a dictionary then.
 *
 * @param name the operator's name in the text
 * @param attributes its attributes in the text
 * @param form form of its arguments
 */
public record Spelling(String name, Map<String, Object> attributes, Form form) {
    /** The form of arguments. */
    public enum Form {
        /** One after the other. */
        LIST,
        /** As one tuple. */
        TUPLE,
        /** Cast to int32, with the result cast back to its type. */
        WORDS
    }

    /** Prefix of operators that TVM does not have. */
    public static final String OWN = "tfl.";

    /** The key that tells TVM's parser the type of the attributes of an operator that states none. */
    public static final String TYPE_KEY = "attrs_type_key";

    /** Keys of the result's type, for operators that TVM does not have. */
    public static final String RESULT_SHAPE = "ty_shape";

    public static final String RESULT_DTYPE = "ty_dtype";

    private static final String DICTIONARY = "DictAttrs";
    private static final Set<String> TRUTHS = Set.of("keepdims", "select_last_index", "count_include_pad");

    public Spelling {
        attributes = Collections.unmodifiableMap(new LinkedHashMap<>(attributes));
    }

    /** The form under its own name: TVM's operator unless the name has the prefix. */
    public static Spelling of(Op op) {
        return op.name().startsWith(OWN) ? own(op) : standard(op.name(), op.attributes());
    }

    /** TVM's operator. */
    public static Spelling standard(String name, Map<String, Object> attributes) {
        Map<String, Object> spelled = new LinkedHashMap<>(attributes);
        TRUTHS.forEach(key -> spelled.computeIfPresent(key, (k, value) -> value.equals(1)));
        return new Spelling(name, spelled, Form.LIST);
    }

    /** An operator that TVM does not have. */
    public static Spelling own(Op op) {
        return own(op.name().startsWith(OWN) ? op.name() : OWN + op.name(), op.attributes());
    }

    /** An operator that TVM does not have, under another name. */
    public static Spelling own(String name, Map<String, Object> attributes) {
        return new Spelling(name, attributes, Form.LIST);
    }

    /**
     * A copy that tells the type of the result if TVM has no such operator: whoever registers it there can say no more than that. Nothing
     * of it is read back.
     */
    public Spelling resulting(TensorType result) {
        return isForeign()
                ? with(RESULT_SHAPE, result.shape().dims())
                        .with(RESULT_DTYPE, result.dtype().text())
                        .with(TYPE_KEY, DICTIONARY)
                : this;
    }

    /** A copy without an attribute. */
    public Spelling without(String attribute) {
        Map<String, Object> fewer = new LinkedHashMap<>(attributes);
        fewer.remove(attribute);
        return new Spelling(name, fewer, form);
    }

    /** A copy with one more attribute after the others. */
    public Spelling with(String attribute, Object value) {
        Map<String, Object> more = new LinkedHashMap<>(attributes);
        more.put(attribute, value);
        return new Spelling(name, more, form);
    }

    public Spelling in(Form other) {
        return new Spelling(name, attributes, other);
    }

    /** Whether TVM has no operator of this name. */
    public boolean isForeign() {
        return name.startsWith(OWN);
    }
}
