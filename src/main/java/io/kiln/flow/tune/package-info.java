// SPDX-License-Identifier: Apache-2.0
/** {@code kiln:tune}: measures configurations of a model's layers and keeps what it finds as records. */
package io.kiln.flow.tune;
