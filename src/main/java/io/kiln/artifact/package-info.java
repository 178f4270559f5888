// SPDX-License-Identifier: Apache-2.0
/** The interface between compiler and firmware: the model library as a value. */
package io.kiln.artifact;
