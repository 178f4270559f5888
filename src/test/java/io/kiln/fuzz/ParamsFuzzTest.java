// SPDX-License-Identifier: Apache-2.0
package io.kiln.fuzz;

class ParamsFuzzTest extends ReaderFuzz {
    ParamsFuzzTest() {
        super(Reader.PARAMS);
    }
}
