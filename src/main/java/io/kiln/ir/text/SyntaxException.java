// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.text;

import io.kiln.base.Problem;

/** Ends the parsing of a statement; the parser catches it, reports the error and continues after the statement. */
final class SyntaxException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient Problem problem;

    SyntaxException(Problem problem) {
        super(problem.text(), null, false, false);
        this.problem = problem;
    }

    Problem problem() {
        return problem;
    }
}
