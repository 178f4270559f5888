// SPDX-License-Identifier: Apache-2.0
/** Model Library Format: the model library as a tar, written and read. */
package io.kiln.mlf;
