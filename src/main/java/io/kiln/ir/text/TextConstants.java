// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.text;

import io.kiln.artifact.NamedTensor;
import io.kiln.ir.Constant;
import io.kiln.ir.text.MetadataReader.MetadataSection;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What the functions of a module share: numbers of bindings, and constants that are not inline, in the metadata section or as parameters of
 * {@code @main}.
 */
final class TextConstants {
    private final boolean asParameters;
    private final List<Constant> metadata = new ArrayList<>();
    private final List<NamedTensor> parameters = new ArrayList<>();
    private RelayNames names = new RelayNames();
    private boolean hasForeign;
    private int bindings;

    /**
     * @param asParameters whether constants of {@code @main} become its parameters
     */
    TextConstants(boolean asParameters) {
        this.asParameters = asParameters;
    }

    /** Reserves names that parameters must not have. */
    void reserve(RelayNames taken) {
        names = taken;
    }

    /** The text that refers to a constant. */
    String refer(Constant constant, boolean isMain) {
        if (!asParameters || !isMain) {
            metadata.add(constant);
            return "meta[" + MetadataSection.CONSTANT + "][" + (metadata.size() - 1) + "]";
        }
        String name = names.of("p" + parameters.size());
        parameters.add(new NamedTensor(
                name, constant.type().dtype(), constant.type().shape().dims(), constant.data()));
        return "%" + name;
    }

    /** The number of the next binding: TVM's parser has those of all functions in one table. */
    int number() {
        return bindings++;
    }

    List<Constant> metadata() {
        return metadata;
    }

    /** In order of appearance. */
    List<NamedTensor> parameters() {
        return parameters;
    }

    void noteForeign(boolean isForeign) {
        hasForeign |= isForeign;
    }

    /** Whether any operator is not TVM's. */
    boolean hasForeign() {
        return hasForeign;
    }

    /** Creates unique identifiers for Relay text: letters, digits and underscores, no leading digit, no keyword. */
    static final class RelayNames {
        /** Names that TVM's tokenizer treats as keywords even after a mark. */
        private static final Set<String> KEYWORDS = Set.of(
                "let",
                "fn",
                "def",
                "if",
                "else",
                "type",
                "match",
                "extern",
                "free_var",
                "ref",
                "ref_read",
                "ref_write");

        private static final String INFINITE = "inff";

        private final Set<String> taken = new HashSet<>();

        String of(String name) {
            String plain = name.replaceAll("[^A-Za-z0-9_]", "_");
            boolean isWord = plain.isEmpty()
                    || Character.isDigit(plain.charAt(0))
                    || KEYWORDS.contains(plain)
                    || plain.startsWith(INFINITE);
            String base = isWord ? "v_" + plain : plain;
            String unique = base;
            for (int i = 1; !taken.add(unique); i++) {
                unique = base + "_" + i;
            }
            return unique;
        }
    }
}
