// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * How an operator is called in Relay's text: as TVM's operator where that computes the same, without attributes that TVM does not know. Any
 * other has a name that begins with {@code tfl.}; TVM can read such a call where somebody registered an operator of that name, its
 * attributes being a dictionary then.
 *
 * @param name the operator's name in the text
 * @param attributes its attributes in the text
 * @param form how its arguments are written
 */
public record Spelling(String name, Map<String, Object> attributes, Form form) {
    /** How arguments are written. */
    public enum Form {
        /** One behind the other. */
        LIST,
        /** As one tuple. */
        TUPLE,
        /** Cast to int32, and the result back to its type. */
        WORDS
    }

    /** What the names of operators begin with that TVM does not have. */
    public static final String OWN = "tfl.";

    /** Tells TVM's parser what to make of the attributes of an operator that states no type for them. */
    public static final String TYPE_KEY = "attrs_type_key";

    private static final String DICTIONARY = "DictAttrs";
    private static final Set<String> TRUTHS = Set.of("keepdims", "select_last_index", "count_include_pad");

    public Spelling {
        attributes = Collections.unmodifiableMap(new LinkedHashMap<>(attributes));
    }

    /** Under its name: of TVM's if that does not say otherwise. */
    public static Spelling of(Op op) {
        return op.name().startsWith(OWN) ? own(op) : standard(op.name(), op.attributes());
    }

    /** As TVM's operator. */
    public static Spelling standard(String name, Map<String, Object> attributes) {
        Map<String, Object> spelled = new LinkedHashMap<>(attributes);
        TRUTHS.forEach(key -> spelled.computeIfPresent(key, (k, value) -> value.equals(1)));
        return new Spelling(name, spelled, Form.LIST);
    }

    /** As an operator that TVM does not have. */
    public static Spelling own(Op op) {
        return own(op.name().startsWith(OWN) ? op.name() : OWN + op.name(), op.attributes());
    }

    /** As an operator that TVM does not have, under another name. */
    public static Spelling own(String name, Map<String, Object> attributes) {
        Map<String, Object> spelled = new LinkedHashMap<>(attributes);
        if (!spelled.isEmpty()) {
            spelled.put(TYPE_KEY, DICTIONARY);
        }
        return new Spelling(name, spelled, Form.LIST);
    }

    /** Without an attribute. */
    public Spelling without(String attribute) {
        Map<String, Object> fewer = new LinkedHashMap<>(attributes);
        fewer.remove(attribute);
        return new Spelling(name, fewer, form);
    }

    /** With one more attribute behind the others. */
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
