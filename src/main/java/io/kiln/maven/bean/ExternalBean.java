// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.bean;

import io.kiln.partition.UserFunctions;
import java.util.List;
import java.util.stream.Stream;

/** One {@code <external>} of {@code <externals>}: the C function that computes a chain of operators. */
public final class ExternalBean {
    private String name = "";
    private String operators = "";
    private String function = "";
    private String header = "";
    private boolean constants;

    public void setName(String name) {
        this.name = name;
    }

    public void setOperators(String operators) {
        this.operators = operators;
    }

    public void setFunction(String function) {
        this.function = function;
    }

    public void setHeader(String header) {
        this.header = header;
    }

    public void setConstants(boolean constants) {
        this.constants = constants;
    }

    /** The function in the compiler's form. */
    public UserFunctions.External external() {
        List<String> words = operators.isBlank()
                ? List.of()
                : Stream.of(operators.strip().split("\\s+", -1)).toList();
        return new UserFunctions.External(name.strip(), words, function.strip(), header.strip(), constants);
    }
}
