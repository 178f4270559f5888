// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.protocol;

import io.kiln.device.protocol.ConsoleProtocol.ImageConsole.End;

/** What tests ask of a program's end. */
public final class Ends {
    private Ends() {}

    /** The code that an image returned; -1 if it did not. */
    public static int code(End end) {
        return end instanceof End.Returned returned ? returned.code() : -1;
    }
}
