// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc.packet;

import java.util.Arrays;
import java.util.Optional;

/** What a packet asks for or answers; the codes are the constants' order. */
public enum RpcCode {
    /** Nothing. */
    NONE,
    /** Ends the server; it answers nothing. */
    SHUTDOWN,
    /** Begins; says the protocol's version. */
    INIT_SERVER,
    /** Calls a function. */
    CALL_FUNC,
    /** The reply with values. */
    RETURN,
    /** The reply of what failed, with a text. */
    EXCEPTION,
    /** Reads a tensor. */
    COPY_FROM_REMOTE,
    /** Writes a tensor. */
    COPY_TO_REMOTE,
    /** The reply with the bytes of a tensor. */
    COPY_ACK,
    /** Looks a global function up. */
    GET_GLOBAL_FUNC,
    /** Gives a handle back. */
    FREE_HANDLE,
    /** Selects a device. */
    DEV_SET_DEVICE,
    /** Asks for a device's attribute. */
    DEV_GET_ATTR,
    /** Allocates memory. */
    DEV_ALLOC_DATA,
    /** Gives memory back. */
    DEV_FREE_DATA,
    /** Waits for a device. */
    DEV_STREAM_SYNC,
    /** Copies between tensors of the board. */
    COPY_AMONG_REMOTE,
    /** Allocates memory for a tensor. */
    DEV_ALLOC_DATA_WITH_SCOPE,
    /** Creates a stream. */
    DEV_CREATE_STREAM,
    /** Frees a stream. */
    DEV_FREE_STREAM,
    /** Selects a stream. */
    DEV_SET_STREAM,
    /** Asks for the stream selected. */
    DEV_GET_CURRENT_STREAM;

    /** The number on the wire. */
    public int code() {
        return ordinal();
    }

    /** The code of a number. */
    public static Optional<RpcCode> of(int code) {
        return Arrays.stream(values()).filter(each -> each.ordinal() == code).findFirst();
    }
}
