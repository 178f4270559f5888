// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

/** One {@code <customOperator>} of {@code <customOperators>}: the C function that computes an operator. */
public final class CustomOperator {
    private String code = "";
    private String function = "";
    private String header = "";
    private String shape = "";

    /** Set by Maven from {@code <code>}: the operator's name in the model. */
    public void setCode(String code) {
        this.code = code;
    }

    /** Set by Maven from {@code <function>}: name of the C function. */
    public void setFunction(String function) {
        this.function = function;
    }

    /** Set by Maven from {@code <header>}: file below src/main/c that declares it. */
    public void setHeader(String header) {
        this.header = header;
    }

    /** Set by Maven from {@code <shape>}: {@code input0}, or dimensions; what the model states if not set. */
    public void setShape(String shape) {
        this.shape = shape;
    }

    /** As {@code kiln.customOperators} has it. */
    String text() {
        return String.join(":", code.strip(), function.strip(), header.strip(), shape.strip());
    }
}
