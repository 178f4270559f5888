// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.build;

import io.kiln.base.Bytes;
import io.kiln.frontend.relay.value.Findings;
import io.kiln.ir.Constant;
import io.kiln.ir.text.Annotations;
import io.kiln.ir.text.Place;
import io.kiln.ir.text.RelaySyntax;
import io.kiln.ir.text.RelaySyntax.Attribute;
import io.kiln.ir.text.RelaySyntax.Boxed;
import io.kiln.ir.text.RelaySyntax.Literal;
import io.kiln.ir.text.RelaySyntax.Meta;
import io.kiln.ir.text.RelaySyntax.Metadata;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The constants in the text or in its metadata section. */
final class LiteralReader {
    private static final String PRINT_WHOLE =
            "Print the model with its metadata section (in TVM: astext() with show_meta_data=True)";

    private final Metadata metadata;
    private final Findings findings;
    private boolean metadataMissed;

    LiteralReader(Metadata metadata, Findings findings) {
        this.metadata = metadata;
        this.findings = findings;
    }

    /** {@code meta[relay.Constant][n]}; a missing section is reported once. */
    Optional<Constant> meta(Meta meta) {
        return find(metadata.constants(), meta.index(), meta.place(), "constant")
                .map(constant ->
                        new Constant(Annotations.name(meta.comment()).orElse(""), constant.type(), constant.data()));
    }

    /** The attributes with the values of the metadata section in place of {@code meta[runtime.BoxInt][n]}; those that are not there are reported. */
    List<Attribute> unboxed(List<Attribute> attributes) {
        List<Attribute> unboxed = new ArrayList<>();
        for (Attribute attribute : attributes) {
            Optional<Object> value = unboxed(attribute.value());
            if (attribute.name().equals(RelaySyntax.DICTIONARY) && value.orElse("") instanceof Map<?, ?> all) {
                all.forEach((name, each) -> unboxed.add(new Attribute((String) name, each, attribute.place())));
            } else {
                value.ifPresent(found -> unboxed.add(new Attribute(attribute.name(), found, attribute.place())));
            }
        }
        return unboxed;
    }

    private Optional<Object> unboxed(Object value) {
        if (value instanceof Boxed boxed) {
            List<Object> values = metadata.boxes().getOrDefault(boxed.kind(), List.of());
            return find(values, boxed.index(), boxed.place(), boxed.kind());
        }
        if (value instanceof List<?> list) {
            List<Object> items =
                    list.stream().flatMap(item -> unboxed(item).stream()).toList();
            return Optional.<Object>of(items).filter(all -> items.size() == list.size());
        }
        return Optional.of(value);
    }

    private <T> Optional<T> find(List<? extends T> values, int index, Place place, String what) {
        if (index < values.size()) {
            return Optional.of(values.get(index));
        }
        if (!values.isEmpty()) {
            findings.add(
                    place,
                    "there is no " + what + " " + index + " in the metadata section",
                    "an index below " + values.size(),
                    PRINT_WHOLE);
        } else if (!metadataMissed) {
            metadataMissed = true;
            findings.add(place, "the data of the " + what + "s is missing", "a metadata section", PRINT_WHOLE);
        }
        return Optional.empty();
    }

    /** A number or boolean. */
    static Constant literal(Literal literal) {
        ByteBuffer bytes = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN);
        if (literal.dtype().isFloat()) {
            bytes.putFloat(literal.value().floatValue());
        } else {
            bytes.putLong(literal.value().longValue());
        }
        byte[] data = Arrays.copyOf(bytes.array(), literal.dtype().bytes());
        return new Constant(
                Annotations.name(literal.comment()).orElse(""),
                new TensorType(Shape.scalar(), literal.dtype()),
                Bytes.wrap(data));
    }
}
