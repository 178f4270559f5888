// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.text;

import io.kiln.artifact.NamedTensor;
import io.kiln.ir.Constant;
import java.util.ArrayList;
import java.util.List;

/** The constants of a module that do not stand inline: in the metadata section, or as parameters of {@code @main}. */
final class TextConstants {
    private final boolean asParameters;
    private final List<Constant> metadata = new ArrayList<>();
    private final List<NamedTensor> parameters = new ArrayList<>();
    private RelayNames names = new RelayNames();
    private boolean hasForeign;

    /**
     * @param asParameters whether those of {@code @main} become its parameters
     */
    TextConstants(boolean asParameters) {
        this.asParameters = asParameters;
    }

    /** Names of parameters differ from these. */
    void reserve(RelayNames taken) {
        names = taken;
    }

    /** What the text has for a constant. */
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

    /** Whether some operator is not TVM's. */
    boolean hasForeign() {
        return hasForeign;
    }
}
