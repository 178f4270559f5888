// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.build;

import io.kiln.base.Bytes;
import io.kiln.frontend.relay.value.Findings;
import io.kiln.ir.Constant;
import io.kiln.ir.text.Annotations;
import io.kiln.ir.text.RelaySyntax.Literal;
import io.kiln.ir.text.RelaySyntax.Meta;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** The constants in the text or in its metadata section. */
final class LiteralReader {
    private static final String PRINT_WHOLE =
            "Print the model with its metadata section (in TVM: astext() with show_meta_data=True)";

    private final List<Constant> metadata;
    private final Findings findings;
    private boolean metadataMissed;

    LiteralReader(List<Constant> metadata, Findings findings) {
        this.metadata = metadata;
        this.findings = findings;
    }

    /** {@code meta[relay.Constant][n]}; a missing section is reported once. */
    Optional<Constant> meta(Meta meta) {
        if (meta.index() < metadata.size()) {
            Constant constant = metadata.get(meta.index());
            return Optional.of(
                    new Constant(Annotations.name(meta.comment()).orElse(""), constant.type(), constant.data()));
        }
        if (!metadata.isEmpty()) {
            findings.add(
                    meta.place(),
                    "there is no constant " + meta.index() + " in the metadata section",
                    "an index below " + metadata.size(),
                    PRINT_WHOLE);
        } else if (!metadataMissed) {
            metadataMissed = true;
            findings.add(meta.place(), "the data of the constants is missing", "a metadata section", PRINT_WHOLE);
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
